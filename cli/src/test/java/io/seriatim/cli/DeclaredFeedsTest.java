package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.BadRequestException;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SymbolicDims;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random declarations of inputs in each format of models, and feeds that fit or break them in one place. */
class DeclaredFeedsTest {
    private static final int MODELS = Boolean.getBoolean("seriatim.full") ? 400 : 25;
    private static final List<String> NAMES = List.of("batch", "length");
    private static final List<DType> OF_PADDLE = List.of(DType.FLOAT32, DType.FLOAT64, DType.INT32, DType.INT64,
            DType.BOOL, DType.UINT8, DType.INT8, DType.INT16, DType.FLOAT16);
    private static final List<DType> OF_ONNX = Stream
            .concat(OF_PADDLE.stream(), Stream.of(DType.UINT16, DType.UINT32, DType.UINT64)).toList();

    @TempDir
    private Path folder;

    /** A format, and the declarations that it can express. */
    @SuppressWarnings("ImmutableEnumChecker") // Never changed.
    enum Format {
        PADDLE("m.pdmodel", OF_PADDLE, false), PIR("m.json", OF_PADDLE, false), ONNX("m.onnx", OF_ONNX,
                true), MXNET("m-symbol.json", List.of(DType.FLOAT32), false);

        final String file;
        final List<DType> types;
        final boolean hasNames;

        Format(String file, List<DType> types, boolean hasNames) {
            this.file = file;
            this.types = types;
            this.hasNames = hasNames;
        }
    }

    /** An input: its dimensions are numbers, names, or empty where open. */
    private record Input(String name, DType dtype, List<String> dims) {
        boolean isOpen(int axis) {
            return !dims.get(axis).matches("[0-9]+");
        }

        long[] declared() {
            return IntStream.range(0, dims.size()).mapToLong(i -> isOpen(i) ? -1 : Long.parseLong(dims.get(i)))
                    .toArray();
        }

        /** The type as messages have it. */
        String type() {
            return VarType.TensorType.of(dtype, declared()).toString();
        }
    }

    private static Input input(Random random, Format format, String name) {
        // MXNet has no scalars in files: a shape without dimensions is an unknown one.
        int rank = format == Format.MXNET ? 1 + random.nextInt(4) : random.nextInt(5);
        List<String> dims = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            int kind = random.nextInt(format.hasNames ? 3 : 2);
            dims.add(kind == 0
                    ? String.valueOf(1 + random.nextInt(4))
                    : kind == 1 ? "" : NAMES.get(random.nextInt(NAMES.size())));
        }
        return new Input(name, format.types.get(random.nextInt(format.types.size())), dims);
    }

    /** Writes a model that copies its inputs. */
    private Path write(Format format, List<Input> inputs) throws IOException {
        Path path = folder.resolve(format.file);
        if (format == Format.MXNET) {
            String variables = inputs.stream()
                    .map(input -> "{\"op\": \"null\", \"name\": \"" + input.name()
                            + "\", \"attrs\": {\"__shape__\": \"("
                            + Arrays.stream(input.declared()).mapToObj(dim -> Math.max(dim, 0) + ",")
                                    .collect(Collectors.joining())
                            + ")\"}, \"inputs\": []}")
                    .collect(Collectors.joining(","));
            String copies = IntStream.range(0, inputs.size())
                    .mapToObj(
                            i -> "{\"op\": \"_copy\", \"name\": \"of_" + inputs.get(i).name() + "\", \"inputs\": [[" + i
                                    + ", 0, 0]]}")
                    .collect(Collectors.joining(","));
            String heads = IntStream.range(0, inputs.size()).mapToObj(i -> "[" + (inputs.size() + i) + ", 0, 0]")
                    .collect(Collectors.joining(","));
            Files.writeString(path, "{\"nodes\": [" + variables + "," + copies + "], \"arg_nodes\": [0], \"heads\": ["
                    + heads + "], \"attrs\": {\"mxnet_version\": [\"int\", 10901]}}");
            Files.write(folder.resolve("m-0000.params"),
                    new byte[]{0x12, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
            return path;
        }
        Program program = new Program();
        Map<String, List<String>> names = new LinkedHashMap<>();
        for (Input input : inputs) {
            VarType type = VarType.dense(input.dtype(), input.declared());
            program.global().put(new VarDesc(input.name(), type, null, true, null, true))
                    .put(VarDesc.of("of_" + input.name(), type))
                    .add(OpDesc.of("assign").in("X", input.name()).out("Out", "of_" + input.name()).build());
            names.put(input.name(), IntStream.range(0, input.dims().size())
                    .mapToObj(i -> input.isOpen(i) ? input.dims().get(i) : "").toList());
        }
        program.symbolicDims(new SymbolicDims(names));
        InferenceModels.save(path, new InferenceModel(program, inputs.stream().map(Input::name).toList(),
                inputs.stream().map(input -> "of_" + input.name()).toList(), Map.of()));
        return path;
    }

    private static Tensor zeros(DType dtype, long... dims) {
        return Tensor.of(dtype, new long[Math.toIntExact(Arrays.stream(dims).reduce(1, Math::multiplyExact))], dims);
    }

    /** Dimensions that fit, with one size for each name. */
    private static long[] fitting(Random random, Input input, Map<String, Long> sizes) {
        return IntStream.range(0, input.dims().size())
                .mapToLong(i -> input.isOpen(i)
                        ? input.dims().get(i).isEmpty()
                                ? random.nextInt(4)
                                : sizes.computeIfAbsent(input.dims().get(i), _ -> 1L + random.nextInt(4))
                        : Long.parseLong(input.dims().get(i)))
                .toArray();
    }

    /** A feed that breaks the declaration, and what its message must have. */
    private record Wrong(Tensor value, List<String> told) {
    }

    private static List<Wrong> wrong(Input input, long[] fit, List<Input> all) {
        List<Wrong> wrong = new ArrayList<>();
        DType other = input.dtype() == DType.INT64 ? DType.FLOAT32 : DType.INT64;
        List<String> told = List.of("'" + input.name() + "'", input.type());
        wrong.add(new Wrong(zeros(other, fit), told));
        long[] more = Arrays.copyOf(fit, fit.length + 1);
        more[fit.length] = 1;
        wrong.add(new Wrong(zeros(input.dtype(), more), told));
        if (fit.length > 0) {
            wrong.add(new Wrong(zeros(input.dtype(), Arrays.copyOf(fit, fit.length - 1)), told));
        }
        for (int i = 0; i < fit.length; i++) {
            String dim = input.dims().get(i);
            boolean isShared = NAMES.contains(dim)
                    && all.stream().mapToLong(each -> each.dims().stream().filter(dim::equals).count()).sum() > 1;
            if (!input.isOpen(i) || isShared) {
                long[] dims = fit.clone();
                dims[i]++;
                wrong.add(new Wrong(zeros(input.dtype(), dims),
                        isShared
                                ? List.of("'" + input.name() + "'", "'" + dim + "'", "has " + fit[i],
                                        "has " + dims[i])
                                : told));
            }
        }
        return wrong;
    }

    private static void assertTold(String message, List<String> parts) {
        parts.forEach(part -> assertTrue(message.contains(part), message + " lacks " + part));
    }

    @ParameterizedTest
    @EnumSource
    void feedsAreHeldAgainstTheDeclaration(Format format) throws IOException {
        for (int seed = 0; seed < MODELS; seed++) {
            Random random = new Random(seed);
            List<Input> inputs = new ArrayList<>();
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                inputs.add(input(random, format, "x" + i));
            }
            String what = format + ", seed " + seed + ": " + inputs;
            try (InferenceModel model = InferenceModels.load(write(format, inputs));
                    Executor executor = Executor.builder().build()) {
                assertEquals(inputs.stream().map(Input::name).toList(), model.feeds(), what);
                check(random, model, executor, inputs, what);
            }
        }
    }

    @SuppressWarnings("NullAway") // A value is missing on purpose.
    private static void check(Random random, InferenceModel model, Executor executor, List<Input> inputs, String what) {
        Fetches fetches = new Fetches(model.fetches());
        Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), fetches);
        Map<String, Tensor> right = new LinkedHashMap<>();
        Map<String, Long> sizes = new HashMap<>();
        inputs.forEach(input -> right.put(input.name(), zeros(input.dtype(), fitting(random, input, sizes))));
        for (Input input : inputs) {
            Tensor fit = Objects.requireNonNull(right.get(input.name()));
            for (Wrong wrong : wrong(input, fit.shape().dims(), inputs)) {
                Map<String, Tensor> fed = new LinkedHashMap<>(right);
                fed.put(input.name(), wrong.value());
                String which = what + " fed " + wrong.value();
                List<String> told = Stream.concat(wrong.told().stream(),
                        wrong.told().size() > 2 ? Stream.of() : Stream.of(wrong.value().spec().toString())).toList();
                assertTold(message(which, () -> plan.run(fed.values().toArray(Tensor[]::new))), told);
                assertTold(message(which, () -> executor.run(model.program(), fed, fetches)), told);
                assertTold(String.valueOf(assertThrows(IllegalArgumentException.class, () -> Interpreter
                        .of(Kernels.system()).run(model.program(), fed, model.fetches()), which).getMessage()), told);
            }
            Map<String, Tensor> lacking = new LinkedHashMap<>(right);
            lacking.remove(input.name());
            assertTold(message(what, () -> executor.run(model.program(), lacking, fetches)),
                    List.of("'" + input.name() + "'"));
            Tensor closed = zeros(input.dtype(), fit.shape().dims());
            closed.close();
            Map<String, Tensor> gone = new LinkedHashMap<>(right);
            gone.put(input.name(), closed);
            assertTold(message(what, () -> executor.run(model.program(), gone, fetches)),
                    List.of("Feed '" + input.name() + "'", "closed"));
        }
        Map<String, Tensor> unknown = new LinkedHashMap<>(right);
        unknown.put("nothing", zeros(DType.FLOAT32));
        assertTold(message(what, () -> executor.run(model.program(), unknown, fetches)),
                Stream.concat(Stream.of("'nothing'"), model.feeds().stream()).toList());
        @Nullable
        Tensor[] none = new Tensor[inputs.size()];
        assertTold(message(what, () -> plan.run(none)), List.of("'" + inputs.getFirst().name() + "'"));
        Map<String, Tensor> results = executor.run(model.program(), right, fetches).all();
        for (int i = 0; i < inputs.size(); i++) {
            assertEquals(Objects.requireNonNull(right.get(inputs.get(i).name())).spec(),
                    Objects.requireNonNull(results.get(model.fetches().get(i))).spec(), what);
        }
    }

    private static String message(String what, Runnable run) {
        return String.valueOf(assertThrows(BadRequestException.class, run::run, what).getMessage());
    }
}
