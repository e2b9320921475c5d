package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Operations that divide rows in another way, without a change of the rows. */
public final class LodOperations {
    private static final int[] NONE = {};

    private LodOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("lod_reset").in("X", "Y?").out("Out").attr("target_lod", NONE).attr("append", false)
                .readsLod("X", "Y").makesLod("Out").infer(LodOperations::infer).lower(LodOperations::lower)
                .grad("lod_reset_grad(X, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.run(Copy.PLAIN, l.in("Out@GRAD"))))
                .register(registry);
    }

    private static void infer(Inference inference) {
        long[] dims = inference.dims("X");
        inference.require(dims.length > 0, "X must have at least one dimension");
        inference.same("X", "Out");
        boolean fromY = inference.has("Y");
        long[] target = inference.attrs().getLongs("target_lod");
        if (!fromY) {
            inference.require(target.length > 1,
                    "the attribute target_lod must have at least two offsets, unless there is Y, but is %s",
                    Numbers.text(target));
            try {
                Lod lod = Lod.of(target);
                inference.require(dims[0] < 0 || dims[0] == lod.rows(),
                        "the attribute target_lod must end with the %d rows of X, but is %s", dims[0],
                        Numbers.text(target));
            } catch (IllegalArgumentException e) {
                throw inference.error("the attribute target_lod is no LoD: " + e.getMessage());
            }
        }
        if (!inference.isForRun()) {
            return;
        }
        long[] made;
        if (fromY && inference.hasLod("Y")) {
            made = inference.dims(LodSlot.of("Y"));
        } else {
            long size = fromY ? Inference.size(inference.dims("Y")) : target.length;
            inference.require(size > 1, "Y must have a LoD or at least two offsets, but has %d elements", size);
            made = appends(inference.attrs().getBool("append"), inference.hasLod("X"))
                    ? appended(inference.dims(LodSlot.of("X")), size)
                    : new long[]{size};
        }
        inference.set(LodSlot.of("Out"), DType.INT64, made);
    }

    private static boolean appends(boolean append, boolean hasLevels) {
        return append && hasLevels;
    }

    /** The size of offsets in the form of {@link Lod#toTensor} with a further level. */
    private static long[] appended(long[] before, long size) {
        return new long[]{before.length == 1 ? 1 + 2 + before[0] + size : before[0] + 1 + size, 1};
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        l.out("Out", l.run(Copy.PLAIN, x));
        boolean wanted = l.wantsLod("Out");
        boolean append = l.attrs().getBool("append");
        long[] target = l.attrs().getLongs("target_lod");
        l.call("lod_reset offsets", (in, out) -> {
            Tensor y = in.get(0);
            Lod ofY = y == null ? Lod.NONE : Lod.of(Objects.requireNonNull(in.get(1)));
            Lod lod;
            if (ofY.isEmpty()) {
                Lod before = append ? Lod.of(Objects.requireNonNull(in.get(2))) : Lod.NONE;
                List<long[]> levels = new ArrayList<>(before.levels());
                levels.add(y == null ? target : y.toLongArray());
                lod = Lod.of(levels);
            } else {
                lod = ofY;
            }
            SequenceOffsets.of("lod_reset", "Out", lod, x.dim(0));
            if (wanted) {
                Elements.write(lod.toTensor().toLongArray(), Objects.requireNonNull(out.getFirst()));
            }
        }, Arrays.<@Nullable Operand>asList(l.optional("Y"), l.lod("Y"), l.lod("X")),
                // Offsets are checked even if no one reads them.
                List.of(wanted ? l.output(LodSlot.of("Out")) : l.temporary(TensorSpec.of(DType.INT64, 1))));
    }
}
