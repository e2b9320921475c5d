package io.seriatim.graph;

import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.ParameterGradient;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;

/** Adds the operations that clip gradients. */
final class GradientClips {
    private static final String SCOPE = "/gradient_clip/";

    private final Graph graph;
    private final Block block;

    GradientClips(Graph graph) {
        this.graph = graph;
        this.block = graph.main().global();
    }

    List<ParameterGradient> apply(Clip clip, List<ParameterGradient> pairs) {
        return switch (clip) {
            case Clip.ByValue(double min, double max) ->
                pairs.stream().map(
                        pair -> each(pair, "clip",
                                OpDesc.of("clip").in("Min").in("Max").attr("min", (float) min).attr("max",
                                        (float) max)))
                        .toList();
            case Clip.ByNorm(double norm) ->
                pairs.stream().map(
                        pair -> each(pair, "clip_by_norm", OpDesc.of("clip_by_norm").attr("max_norm", (float) norm)))
                        .toList();
            case Clip.ByGlobalNorm(double norm) -> globally(norm, pairs);
        };
    }

    private ParameterGradient each(ParameterGradient pair, String key, OpDesc.Builder op) {
        if (!graph.spec(pair.parameter()).clipped()) {
            return pair;
        }
        String out = tmp(key);
        ParameterGradient clipped = new ParameterGradient(pair.parameter(), out);
        graph.optimize(SCOPE, clipped, op.in("X", pair.gradient()).out("Out", out));
        return clipped;
    }

    private String tmp(String key) {
        return graph.names().next(graph.names().next(key) + ".tmp");
    }

    private List<ParameterGradient> globally(double norm, List<ParameterGradient> pairs) {
        List<ParameterGradient> clipped = pairs.stream().filter(pair -> graph.spec(pair.parameter()).clipped())
                .toList();
        if (clipped.isEmpty()) {
            return pairs;
        }
        List<String> half = new ArrayList<>();
        List<String> single = new ArrayList<>();
        List<String> twice = new ArrayList<>();
        for (ParameterGradient pair : clipped) {
            DType dtype = block.get(pair.gradient()).tensor().dtype();
            String squares = tmp("squared_l2_norm");
            graph.optimize(SCOPE, pair, OpDesc.of("squared_l2_norm").in("X", dense(pair)).out("Out", squares));
            switch (dtype) {
                case FLOAT16, BFLOAT16 -> half.add(squares);
                case FLOAT64 -> twice.add(squares);
                default -> single.add(squares);
            }
        }
        ParameterGradient last = clipped.getLast();
        String total = root(last, total(last, half, single, twice));
        DType dtype = block.get(total).tensor().dtype();
        graph.names().next("fill_constant");
        String limit = tmp("fill_constant");
        graph.optimize(SCOPE, last,
                OpDesc.of("fill_constant").in("ShapeTensor").in("ShapeTensorList").in("ValueTensor").out("Out", limit)
                        .attr("shape", new long[]{1}).attr("dtype", DataTypes.number(dtype)).attr("value", (float) norm)
                        .attr("str_value", Initializers.text(norm)));
        block.put(block.get(limit).stopping(true));
        String larger = graph.names().next("elementwise_max");
        graph.optimize(SCOPE, last, OpDesc.of("elementwise_max").in("X", limit).in("Y", total).out("Out", larger));
        String ratio = graph.names().next("elementwise_div");
        graph.optimize(SCOPE, last, OpDesc.of("elementwise_div").in("X", limit).in("Y", larger).out("Out", ratio));
        for (ParameterGradient pair : clipped) {
            String own = cast(pair, ratio, block.get(pair.gradient()).tensor().dtype());
            graph.optimize(SCOPE, pair,
                    OpDesc.of("elementwise_mul").in("X", pair.gradient()).in("Y", own).out("Out", pair.gradient()));
        }
        return pairs;
    }

    /** The norm of rows is that of the tensor after rows of the same index are added. */
    private String dense(ParameterGradient pair) {
        if (!(block.get(pair.gradient()).type() instanceof VarType.Rows)) {
            return pair.gradient();
        }
        String merged = tmp("merge_selected_rows");
        graph.optimize(SCOPE, pair, OpDesc.of("merge_selected_rows").in("X", pair.gradient()).out("Out", merged));
        String tensor = tmp("get_tensor_from_selected_rows");
        graph.optimize(SCOPE, pair, OpDesc.of("get_tensor_from_selected_rows").in("X", merged).out("Out", tensor));
        return tensor;
    }

    private String total(ParameterGradient last, List<String> half, List<String> single, List<String> twice) {
        DType widest = twice.isEmpty() ? DType.FLOAT32 : DType.FLOAT64;
        List<String> sums = new ArrayList<>();
        if (!half.isEmpty()) {
            sums.add(cast(last, sum(last, half), widest));
        }
        if (!single.isEmpty()) {
            sums.add(cast(last, sum(last, single), widest));
        }
        if (!twice.isEmpty()) {
            sums.add(sum(last, twice));
        }
        return sums.size() == 1 ? sums.getFirst() : sum(last, sums);
    }

    private String sum(ParameterGradient last, List<String> parts) {
        String out = tmp("add_n");
        graph.optimize(SCOPE, last, OpDesc.of("sum").in("X", parts).out("Out", out));
        return out;
    }

    private String root(ParameterGradient last, String total) {
        String out = tmp("sqrt");
        graph.optimize(SCOPE, last, OpDesc.of("sqrt").in("X", total).out("Out", out));
        return out;
    }

    private String cast(ParameterGradient pair, String name, DType dtype) {
        DType from = block.get(name).tensor().dtype();
        if (from == dtype) {
            return name;
        }
        String out = tmp("cast");
        graph.optimize(SCOPE, pair,
                OpDesc.of("cast").in("X", name).out("Out", out).attr("in_dtype", DataTypes.number(from)).attr(
                        "out_dtype",
                        DataTypes.number(dtype)));
        return out;
    }
}
