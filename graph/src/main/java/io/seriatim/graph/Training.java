package io.seriatim.graph;

import io.seriatim.graph.optimizer.Adamax;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Decay;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.ParameterGradient;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Utf8;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds the operations of an optimizer: first those that clip gradients, then those that regularise them, then those
 * that update parameters, each in the order of the parameters' names.
 */
final class Training {
    private final Graph graph;
    private final Block block;
    private final Optimizer optimizer;
    private final @Nullable String skip;

    Training(Graph graph, Optimizer optimizer, @Nullable String skip) {
        this.graph = graph;
        this.block = graph.main().global();
        this.optimizer = optimizer;
        this.skip = skip;
    }

    void apply(List<ParameterGradient> gradients) {
        List<ParameterGradient> pairs = new ArrayList<>(gradients);
        pairs.sort(Comparator.comparing(ParameterGradient::parameter, Utf8.ORDER));
        Clip clip = optimizer.settings().clip();
        List<ParameterGradient> clipped = clip == null ? pairs : new GradientClips(graph).apply(clip, pairs);
        List<ParameterGradient> decayed = clipped.stream().map(this::decayed).toList();
        String rate = rate();
        List<ParameterGradient> written = new ArrayList<>();
        List<List<String>> accumulators = new ArrayList<>();
        for (ParameterGradient pair : decayed) {
            accumulators.add(accumulators(pair.parameter()));
        }
        for (int i = 0; i < decayed.size(); i++) {
            update(decayed.get(i), rate, accumulators.get(i));
            written.add(decayed.get(i));
        }
        if (optimizer instanceof Adamax adamax) {
            for (int i = 0; i < written.size(); i++) {
                powers(adamax, written.get(i), accumulators.get(i));
            }
        }
    }

    private ParameterGradient decayed(ParameterGradient pair) {
        Decay own = graph.spec(pair.parameter()).decay();
        Decay decay = own != null ? own : optimizer.settings().decay();
        if (decay == null || optimizer.fuses(decay)) {
            return pair;
        }
        String from = pair.parameter();
        double coefficient = switch (decay) {
            case Decay.L2(double value) -> value;
            case Decay.L1(double value) -> value;
        };
        if (decay instanceof Decay.L1) {
            String sign = graph.names().next("_generated_var");
            add("/regularization/", pair, OpDesc.of("sign").in("X", from).out("Out", sign));
            from = sign;
        }
        String scaled = graph.names().next("_generated_var");
        add("/regularization/", pair,
                OpDesc.of("scale").in("X", from).in("ScaleTensor").out("Out", scaled).attr("scale",
                        (float) coefficient));
        boolean sparse = block.get(pair.gradient()).type() instanceof VarType.Rows;
        String out = sparse ? pair.gradient() + "@NEWGRAD@" : pair.gradient();
        ParameterGradient result = new ParameterGradient(pair.parameter(), out);
        add("/regularization/", result, OpDesc.of("sum").in("X", pair.gradient(), scaled).out("Out", out));
        return result;
    }

    private void add(String scope, ParameterGradient pair, OpDesc.Builder op) {
        graph.optimize(scope, pair, op);
    }

    private String rate() {
        Optimizer.Settings settings = optimizer.settings();
        String name = graph.names().next("learning_rate");
        long[] dims = settings.precision() == null ? new long[0] : new long[]{1};
        graph.persistent(name, DType.FLOAT32, dims, settings.rate(), true, "");
        Schedule schedule = settings.schedule();
        if (schedule != null) {
            graph.schedule(name, schedule);
        }
        return name;
    }

    private String rateOf(String rate, ParameterGradient pair) {
        double factor = graph.spec(pair.parameter()).rate();
        if (factor == 1) {
            return rate;
        }
        String scaled = graph.names().next("tmp");
        graph.scheduled(pair,
                OpDesc.of("scale").in("X", rate).in("ScaleTensor").out("Out", scaled).attr("scale", (float) factor));
        return scaled;
    }

    private boolean hasMaster(String parameter) {
        DType dtype = block.get(parameter).tensor().dtype();
        return optimizer.settings().multiPrecision() && (dtype == DType.FLOAT16 || dtype == DType.BFLOAT16);
    }

    private List<String> accumulators(String parameter) {
        VarType.TensorType type = block.get(parameter).tensor();
        String owner = parameter;
        List<String> names = new ArrayList<>();
        if (hasMaster(parameter)) {
            owner = graph.names().next(parameter + "_fp32_master");
            graph.master(parameter, owner, type.shape());
            names.add(owner);
        }
        DType dtype = hasMaster(parameter) ? DType.FLOAT32 : type.dtype();
        for (Optimizer.Accumulator accumulator : optimizer.accumulators()) {
            String name = graph.names().next(owner + "_" + accumulator.name());
            graph.persistent(name, dtype, accumulator.single() ? new long[]{1} : type.shape(), accumulator.initial(),
                    false,
                    accumulator.single() && accumulator.written() ? "cpu" : "");
            names.add(name);
        }
        return names;
    }

    private void update(ParameterGradient pair, String rate, List<String> names) {
        boolean master = hasMaster(pair.parameter());
        OpDesc.Builder op = OpDesc.of(optimizer.type()).in("Param", pair.parameter()).in("Grad", pair.gradient())
                .in("LearningRate", rateOf(rate, pair)).out("ParamOut", pair.parameter())
                .attr("multi_precision", master);
        op.in("MasterParam", master ? List.of(names.getFirst()) : List.of());
        if (master) {
            op.out("MasterParamOut", names.getFirst());
        }
        if (optimizer.canSkip()) {
            op.in("SkipUpdate", skip == null ? List.of() : List.of(skip));
        }
        List<Optimizer.Accumulator> accumulators = optimizer.accumulators();
        for (int i = 0; i < accumulators.size(); i++) {
            Optimizer.Accumulator accumulator = accumulators.get(i);
            String name = names.get(i + (master ? 1 : 0));
            op.in(accumulator.slot(), name);
            if (accumulator.written()) {
                op.out(accumulator.slot() + "Out", name);
            }
        }
        Decay own = graph.spec(pair.parameter()).decay();
        optimizer.attributes(op, pair.parameter(), own != null ? own : optimizer.settings().decay());
        add(graph.nextOptimizerScope(), pair, op);
    }

    private void powers(Adamax adamax, ParameterGradient pair, List<String> names) {
        String power = names.getLast();
        double beta1 = adamax.accumulators().getLast().initial();
        add("/optimizer/", pair,
                OpDesc.of("scale").in("X", power).in("ScaleTensor").out("Out", power).attr("scale", (float) beta1));
    }
}
