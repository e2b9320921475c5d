package io.seriatim.graph.ops.region;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.network.RoiAlign;
import io.seriatim.tensor.computation.network.RoiAlignGrad;
import java.util.List;

/** Regions of images resampled to one size by bilinear interpolation. */
public final class RoiAlignOperations {
    /** More samples than any image has elements along an axis. */
    private static final int MOST_SAMPLES = 1 << 16;

    private RoiAlignOperations() {
    }

    public static void register(Operations registry) {
        Operation.Builder forward = Operation.define("roi_align").in("X", "ROIs", "RoisNum?").readsLod("ROIs")
                .out("Out").sharesNoLod()
                .attr("pooled_height", 1).attr("pooled_width", 1).attr("spatial_scale", 1f).attr("sampling_ratio", -1)
                .attr("aligned", false).infer(inference -> {
                    int samples = inference.attrs().getInt("sampling_ratio");
                    inference.require(samples <= MOST_SAMPLES,
                            "the attribute 'sampling_ratio' must be at most %d, but is %d", MOST_SAMPLES, samples);
                    Regions.infer(inference, inference.dims("X").length > 1 ? inference.dims("X")[1] : -1, "Out");
                }).lower(l -> {
                    if (l.wants("Out")) {
                        l.out("Out", l.run(computation(l.attrs()), l.in("X"), l.in("ROIs"), Regions.images(l)));
                    }
                });
        String gradient = "roi_align_grad(Out@GRAD, ROIs, RoisNum, X) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(l -> {
            if (l.wants("X@GRAD")) {
                Operand x = l.output("X@GRAD");
                RoiAlignGrad grad = new RoiAlignGrad(computation(l.attrs()), x.dim(0), List.of(x.dim(2), x.dim(3)));
                l.out("X@GRAD", l.run(grad, l.in("ROIs"), Regions.images(l), l.in("Out@GRAD")));
            }
        }).register(registry);
        forward.grad(gradient).register(registry);
    }

    private static RoiAlign computation(Attrs attrs) {
        return new RoiAlign(attrs.getInt("pooled_height"), attrs.getInt("pooled_width"),
                attrs.getFloat("spatial_scale"), Math.max(0, attrs.getInt("sampling_ratio")),
                attrs.getBool("aligned"));
    }
}
