import io.seriatim.graph.GoldenOperations;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.dialect.TargetSchema;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.onnx.proto.ModelReader;
import io.seriatim.onnx.proto.OnnxValue;
import io.seriatim.onnx.proto.TensorData;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * WriteCases FOLDER [ONNX-FOLDER…]: writes models in all formats, with feeds and the results of Interpreter, for
 * check_written.py. The models are each case of tools/golden/operations, with fixed and with open dimensions, with each
 * value of its enumerations and each flag changed, and each model.onnx below the folders.
 */
final class WriteCases {
    private static final List<String> FORMATS = List.of("pdmodel", "json", "onnx");

    private final Path folder;
    private final PrintWriter index;
    private int number;

    private WriteCases(Path folder, PrintWriter index) {
        this.folder = folder;
        this.index = index;
    }

    public static void main(String[] args) throws IOException {
        Path folder = Files.createDirectories(Path.of(args[0]));
        try (PrintWriter index = new PrintWriter(Files.newBufferedWriter(folder.resolve("index.tsv")))) {
            WriteCases cases = new WriteCases(folder, index);
            String only = System.getProperty("only", ".*");
            if (args.length == 1) {
                for (GoldenOperations golden : GoldenOperations.all().values()) {
                    if (golden.name().matches(only)) {
                        cases.golden(golden);
                    }
                }
            }
            for (int i = 1; i < args.length; i++) {
                try (Stream<Path> files = Files.walk(Path.of(args[i]))) {
                    for (Path file : files.filter(each -> each.endsWith("model.onnx")).sorted().toList()) {
                        if (file.toString().matches(only)) {
                            cases.onnx(file);
                        }
                    }
                }
            }
        }
    }

    private void golden(GoldenOperations golden) throws IOException {
        Map<String, Tensor> feeds = new TreeMap<>(golden.in());
        Set<String> optional = new HashSet<>();
        for (OpDesc op : golden.program().global().ops()) {
            List<String> required = TargetSchema.paddle2().required(op.type());
            op.outputs().forEach((slot, names) -> {
                if (names.size() == 1 && !required.contains(slot)) {
                    optional.addAll(names);
                }
            });
        }
        List<String> fetches = golden.out().keySet().stream()
                .filter(name -> !name.contains("@GRAD") && !optional.contains(name)).sorted().toList();
        if (fetches.isEmpty() || feeds.values().stream().anyMatch(each -> !each.lod().levels().isEmpty())) {
            return;
        }
        String type = golden.name().substring(0, golden.name().indexOf('.'));
        Program program = golden.program();
        one(golden.name(), program, feeds, fetches, true);
        one(golden.name(), program, feeds, fetches, false);
        for (int i = 0; i < program.global().ops().size(); i++) {
            OpDesc op = program.global().ops().get(i);
            if (op.type().equals(type)) {
                for (Attribute.Named each : op.attributes()) {
                    for (Object value : others(type, each)) {
                        Program changed = program.copy();
                        changed.global().set(i, op.with(each.name(), value));
                        one(golden.name() + "[" + each.name() + "=" + value + "]", changed, feeds, fetches, false);
                    }
                }
                break;
            }
        }
    }

    private static List<Object> others(String type, Attribute.Named attribute) {
        List<Object> others = new ArrayList<>();
        switch (attribute.value()) {
            case Attribute.Text(String text) -> TargetSchema.paddle2().values(type, attribute.name()).stream()
                    .filter(each -> !each.equals(text)).forEach(others::add);
            case Attribute.Bool(boolean value) when !Set.of("is_test", "use_cudnn", "use_mkldnn", "with_quant_attr",
                    "is_distributed", "is_sparse").contains(attribute.name()) -> others.add(!value);
            default -> {
            }
        }
        return others;
    }

    private void onnx(Path file) throws IOException {
        String name = file.getParent().getFileName().toString();
        try {
            onnx(name, file);
        } catch (FileFormatException e) {
            line(name, "", "unread", List.of(), List.of(), String.valueOf(e.getMessage()));
        }
    }

    private void onnx(String name, Path file) throws IOException {
        List<Tensor> given = new ArrayList<>();
        for (int i = 0; Files.exists(file.resolveSibling("input_" + i + ".pb")); i++) {
            Path data = file.resolveSibling("input_" + i + ".pb");
            try (Arena arena = Arena.ofConfined()) {
                given.add(new TensorData(data.toString(), null, arena).read(ModelReader.readTensor(data.toString(),
                        MemorySegment.ofArray(Files.readAllBytes(data)))));
            }
        }
        List<String> inputs = ModelReader.read(file.toString(), MemorySegment.ofArray(Files.readAllBytes(file))).graph()
                .inputs().stream().map(OnnxValue::name).toList();
        try (InferenceModel model = InferenceModels.load(file)) {
            Map<String, Tensor> feeds = new LinkedHashMap<>();
            model.feeds().forEach(feed -> feeds.put(feed, given.get(inputs.indexOf(feed))));
            write(name, model, feeds);
        } catch (IllegalArgumentException e) {
            line(name, "", "unread", List.of(), List.of(), String.valueOf(e.getMessage()));
        }
    }

    private void one(String name, Program program, Map<String, Tensor> feeds, List<String> fetches, boolean open)
            throws IOException {
        Program typed = program.copy();
        Block global = typed.global();
        feeds.forEach((feed, value) -> {
            long[] dims = value.shape().dims();
            if (open) {
                Arrays.fill(dims, -1);
            }
            global.put(VarDesc.of(feed, VarType.dense(value.dtype(), dims)));
        });
        InferenceModel model;
        try {
            model = InferenceModels.of(typed, new ArrayList<>(feeds.keySet()), fetches, feeds::get);
            for (Block block : model.program().blocks()) {
                for (OpDesc op : block.ops()) {
                    try {
                        Appender.declare(block, op, Appender.infer(block, op));
                    } catch (IllegalArgumentException e) {
                        if (!open) {
                            throw e;
                        }
                    }
                }
            }
        } catch (IllegalArgumentException e) {
            return;
        }
        write(name + (open ? " open" : ""), model, feeds);
    }

    private void write(String name, InferenceModel model, Map<String, Tensor> feeds) throws IOException {
        Map<String, Tensor> given = new LinkedHashMap<>();
        feeds.forEach((feed, value) -> given.put(feed, copy(value)));
        model.parameters().forEach((parameter, value) -> given.put(parameter, copy(value)));
        Map<String, Tensor> expected;
        try {
            expected = Interpreter.of(Kernels.portable()).run(model.program(), given, model.fetches());
        } catch (RuntimeException e) {
            return;
        }
        if (expected.values().stream().anyMatch(each -> !each.lod().levels().isEmpty())) {
            return;
        }
        Path here = Files.createDirectories(folder.resolve(String.format("%05d", number++)));
        Npz.write(here.resolve("feeds.npz"), numbered(model.feeds(), feeds));
        Npz.write(here.resolve("expected.npz"), numbered(model.fetches(), expected));
        for (String format : FORMATS) {
            Path at = Files.createDirectories(here.resolve(format)).resolve("m." + format);
            String refusal = "";
            try {
                InferenceModels.save(at, model);
            } catch (IllegalArgumentException e) {
                refusal = String.valueOf(e.getMessage());
            } catch (RuntimeException e) {
                refusal = "CRASH " + e;
            }
            line(name, here.getFileName().toString(), format, model.feeds(), model.fetches(), refusal);
        }
    }

    /** Names of variables may hold what names of files may not. */
    private static Map<String, Tensor> numbered(List<String> names, Map<String, Tensor> values) {
        Map<String, Tensor> numbered = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
            numbered.put(String.valueOf(i), values.get(names.get(i)));
        }
        return numbered;
    }

    private static Tensor copy(Tensor tensor) {
        Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
        copy.memory().copyFrom(tensor.memory());
        return copy;
    }

    private void line(String name, String where, String format, List<String> feeds, List<String> fetches,
            String refusal) {
        index.println(Stream.of(name, where, format, String.join(" ", feeds), String.join(" ", fetches),
                refusal.replaceAll("\\s+", " ")).collect(Collectors.joining("\t")));
    }
}
