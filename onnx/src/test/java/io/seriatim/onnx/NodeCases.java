package io.seriatim.onnx;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.onnx.proto.ModelReader;
import io.seriatim.onnx.proto.OnnxTensor;
import io.seriatim.onnx.proto.OnnxValue;
import io.seriatim.onnx.proto.TensorData;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Cases of ONNX's backend tests: a model, its inputs, and the outputs that it has. */
final class NodeCases {
    private static final String COPY = "@copy";
    /** How often several feeds are run. */
    private static final int ROUNDS = 3;

    /**
     * A case.
     *
     * @param folder
     *            its files
     * @param relative
     *            the relative tolerance
     * @param absolute
     *            the absolute tolerance
     */
    record Case(Path folder, double relative, double absolute) {
        String name() {
            return String.valueOf(folder.getFileName());
        }
    }

    private NodeCases() {
    }

    /** The cases of a folder in which tools/onnx/node_tests.py wrote. */
    static List<Case> of(Path root) throws IOException {
        List<Case> cases = new ArrayList<>();
        for (String line : Files.readAllLines(root.resolve("cases.txt"))) {
            String[] parts = line.split(" ", -1);
            cases.add(new Case(root.resolve(parts[0]), Double.parseDouble(parts[1]), Double.parseDouble(parts[2])));
        }
        return cases;
    }

    /** The shapes of the tensors of sequences that are inputs, which tell how many there are. */
    private static LoadOptions options(Case each) throws IOException {
        Path file = each.folder.resolve("shapes.txt");
        LoadOptions options = LoadOptions.defaults();
        for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
            String[] parts = line.split("=", -1);
            options = options.shape(parts[0],
                    Arrays.stream(parts[1].split(",")).filter(dim -> !dim.isEmpty()).mapToLong(Long::parseLong)
                            .toArray());
        }
        return options;
    }

    /** What a case is fed and gives. */
    private record Data(Map<String, Tensor> feeds, List<Tensor> expected) {
    }

    /** Those of a case: some have several, which run one after the other. */
    private static List<Data> data(Case each, InferenceModel model) throws IOException {
        List<Data> all = new ArrayList<>();
        for (Path folder = each.folder; Files.exists(folder); folder = each.folder.resolve("again_" + all.size())) {
            List<Tensor> inputs = tensors(folder, "input");
            Map<String, Tensor> feeds = new LinkedHashMap<>();
            for (int i = 0; i < Math.min(inputs.size(), model.feeds().size()); i++) {
                feeds.put(model.feeds().get(i), inputs.get(i));
            }
            all.add(new Data(feeds, tensors(folder, "output")));
        }
        return all;
    }

    /** Runs a case in the interpreter and in a plan; what is wrong, or null. */
    static @Nullable String failure(Case each) throws IOException {
        try (InferenceModel model = OnnxModels.load(each.folder.resolve("model.onnx"), options(each))) {
            List<Data> several = data(each, model);
            Interpreter interpreter = Interpreter.of(Kernels.system());
            model.parameters().forEach(interpreter::set);
            for (Data data : several) {
                String wrong = compare("interpreter", each, model.fetches(), data.expected,
                        interpreter.run(model.program(), data.feeds, model.fetches()));
                if (wrong != null) {
                    return wrong;
                }
            }
            String wrong = planned("plan", each, model.program(), model, several);
            return wrong == null
                    ? planned("plan in the midst of memory", each, surrounded(model), model, several)
                    : wrong;
        }
    }

    /** Writes the model of a case, and runs what is read back; what is wrong, or null. */
    static @Nullable String rewrittenFailure(Case each, Path file) throws IOException {
        try (InferenceModel model = OnnxModels.load(each.folder.resolve("model.onnx"), options(each))) {
            OnnxModels.save(file, model);
        }
        try (InferenceModel model = OnnxModels.load(file)) {
            List<Tensor> inputs = tensors(each.folder, "input");
            Map<String, Tensor> feeds = new LinkedHashMap<>();
            for (int i = 0; i < Math.min(inputs.size(), model.feeds().size()); i++) {
                feeds.put(model.feeds().get(i), inputs.get(i));
            }
            Interpreter interpreter = Interpreter.of(Kernels.system());
            model.parameters().forEach(interpreter::set);
            return compare("written", each, model.fetches(), tensors(each.folder, "output"),
                    interpreter.run(model.program(), feeds, model.fetches()));
        }
    }

    /**
     * Copies what a program is fed before, and what it gives afterwards: without passes, the operations between then
     * read and write temporaries, which are parts of a larger buffer.
     */
    private static Program surrounded(InferenceModel model) {
        Program program = model.program().copy();
        Block block = program.global();
        if (program.blocks().size() > 1) {
            return program;
        }
        List<OpDesc> before = new ArrayList<>();
        List<OpDesc> after = new ArrayList<>();
        for (String feed : model.feeds()) {
            if (block.get(feed).type() instanceof VarType.Dense) {
                block.put(VarDesc.of(feed + COPY, block.get(feed).type()));
                before.add(OpDesc.of("assign").in("X", feed).out("Out", feed + COPY).build());
            }
        }
        for (String fetch : model.fetches()) {
            boolean computed = block.ops().stream().anyMatch(op -> op.outputNames().contains(fetch));
            if (computed && !model.feeds().contains(fetch)) {
                block.put(VarDesc.of(fetch + COPY, block.get(fetch).type()));
                after.add(OpDesc.of("assign").in("X", fetch + COPY).out("Out", fetch).build());
            }
        }
        List<OpDesc> ops = new ArrayList<>(before);
        for (OpDesc op : block.ops()) {
            UnaryOperator<String> copied = name -> block.find(name + COPY) == null ? name : name + COPY;
            ops.add(op.renamed(copied, copied));
        }
        ops.addAll(after);
        block.setOps(ops);
        return program;
    }

    private static @Nullable String planned(String by, Case each, Program program, InferenceModel model,
            List<Data> several) {
        boolean isOwn = program.equals(model.program());
        try (Executor executor = Executor.builder().fusion(isOwn).build()) {
            model.parameters().forEach(executor.scope()::set);
            Plan plan = executor.compile(program, new Feeds(List.copyOf(several.getFirst().feeds.keySet())),
                    new Fetches(model.fetches()));
            for (int run = 0; run < (several.size() == 1 ? 1 : ROUNDS * several.size()); run++) {
                Data data = several.get(run % several.size());
                String wrong = compare(by, each, model.fetches(), data.expected,
                        plan.run(data.feeds.values().toArray(Tensor[]::new)).all());
                if (wrong != null) {
                    return wrong + (run == 0 ? "" : ", in run " + run);
                }
            }
            return null;
        }
    }

    private static @Nullable String compare(String by, Case each, List<String> names, List<Tensor> expected,
            Map<String, Tensor> results) {
        if (expected.size() != names.size()) {
            return by + ": " + names.size() + " outputs instead of " + expected.size();
        }
        for (int i = 0; i < expected.size(); i++) {
            String wrong = compare(each, expected.get(i), results.get(names.get(i)));
            if (wrong != null) {
                return by + ": output " + names.get(i) + ": " + wrong;
            }
        }
        return null;
    }

    private static @Nullable String compare(Case each, Tensor expected, @Nullable Tensor result) {
        if (result == null) {
            return "missing";
        }
        if (expected.dtype() != result.dtype() || !expected.shape().equals(result.shape())) {
            return result.dtype() + " " + result.shape() + " instead of " + expected.dtype() + " " + expected.shape();
        }
        if (!expected.dtype().isDifferentiable()) {
            long[] want = expected.toLongArray();
            long[] got = result.toLongArray();
            int at = Arrays.mismatch(want, got);
            return at < 0 ? null : got[at] + " instead of " + want[at] + " at " + at;
        }
        double[] want = doubles(expected);
        double[] got = doubles(result);
        for (int i = 0; i < want.length; i++) {
            double limit = each.absolute + each.relative * Math.abs(want[i]);
            boolean same = Double.isNaN(want[i])
                    ? Double.isNaN(got[i])
                    : got[i] == want[i] || Math.abs(got[i] - want[i]) <= limit;
            if (!same) {
                return got[i] + " instead of " + want[i] + " at " + i;
            }
        }
        return null;
    }

    private static double[] doubles(Tensor tensor) {
        return (tensor.dtype().isComplex() ? tensor.asReal() : tensor).toDoubleArray();
    }

    /** The names of the inputs that a file declares, in order. */
    static List<String> inputs(Path file) throws IOException {
        return ModelReader.read(file.toString(), MemorySegment.ofArray(Files.readAllBytes(file))).graph().inputs()
                .stream().map(OnnxValue::name).toList();
    }

    static List<Tensor> tensors(Path folder, String kind) throws IOException {
        List<Tensor> tensors = new ArrayList<>();
        for (int i = 0; Files.exists(folder.resolve(kind + "_" + i + ".pb")); i++) {
            Path file = folder.resolve(kind + "_" + i + ".pb");
            try (Arena arena = Arena.ofConfined()) {
                OnnxTensor tensor = ModelReader.readTensor(file.toString(),
                        MemorySegment.ofArray(Files.readAllBytes(file)));
                tensors.add(new TensorData(file.toString(), null, arena).read(tensor));
            }
        }
        return tensors;
    }
}
