package io.seriatim.onnx;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Cases of ONNX's backend tests: a model, its inputs, and the outputs that it has. */
final class NodeCases {
    private static final String COPY = "@copy";
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

    /** Runs a case in the interpreter and in a plan; what is wrong, or null. */
    static @Nullable String failure(Case each) throws IOException {
        try (InferenceModel model = OnnxModels.load(each.folder.resolve("model.onnx"), options(each))) {
            List<Tensor> inputs = tensors(each.folder, "input");
            Map<String, Tensor> feeds = new LinkedHashMap<>();
            for (int i = 0; i < Math.min(inputs.size(), model.feeds().size()); i++) {
                feeds.put(model.feeds().get(i), inputs.get(i));
            }
            List<Tensor> expected = tensors(each.folder, "output");
            Interpreter interpreter = Interpreter.of(Kernels.system());
            model.parameters().forEach(interpreter::set);
            String wrong = compare("interpreter", each, model.fetches(), expected,
                    interpreter.run(model.program(), feeds, model.fetches()));
            wrong = wrong == null ? planned("plan", each, model.program(), model, feeds, expected) : wrong;
            return wrong == null
                    ? planned("plan in the midst of memory", each, surrounded(model), model, feeds, expected)
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
        List<OpDesc> ops = new ArrayList<>();
        for (String feed : model.feeds()) {
            VarDesc fed = block.get(feed);
            if (fed.type() instanceof VarType.Dense) {
                block.put(VarDesc.of(feed + COPY, fed.type()));
                ops.add(OpDesc.of("assign").in("X", feed).out("Out", feed + COPY).build());
            }
        }
        for (OpDesc op : block.ops()) {
            ops.add(op.renamed(name -> block.find(name + COPY) == null ? name : name + COPY,
                    name -> model.fetches().contains(name) && !model.feeds().contains(name) ? name + COPY : name));
        }
        for (String fetch : model.fetches()) {
            VarDesc result = block.get(fetch);
            boolean computed = ops.stream().anyMatch(op -> op.outputNames().contains(fetch + COPY));
            if (computed && !model.feeds().contains(fetch)) {
                block.put(VarDesc.of(fetch + COPY, result.type()));
                ops.add(OpDesc.of("assign").in("X", fetch + COPY).out("Out", fetch).build());
            }
        }
        block.setOps(ops.stream().map(op -> Objects.requireNonNullElse(read(block, op), op)).toList());
        return program;
    }

    /** An operation that reads a result that was renamed. */
    private static @Nullable OpDesc read(Block block, OpDesc op) {
        return op.type().equals("assign")
                ? null
                : op.renamed(name -> block.find(name + COPY) == null ? name : name + COPY, name -> name);
    }

    private static @Nullable String planned(String by, Case each, Program program, InferenceModel model,
            Map<String, Tensor> feeds, List<Tensor> expected) {
        boolean isOwn = program.equals(model.program());
        try (Executor executor = Executor.builder().fusion(isOwn).build()) {
            model.parameters().forEach(executor.scope()::set);
            Map<String, Tensor> results = executor.compile(program, new Feeds(List.copyOf(feeds.keySet())),
                    new Fetches(model.fetches())).run(feeds.values().toArray(Tensor[]::new)).all();
            return compare(by, each, model.fetches(), expected, results);
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
