package io.seriatim.graph.dialect;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is rewritten for PaddlePaddle has only forms that it knows, and the same results. */
class PaddleFormsTest {
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 3000 : 150;

    private final Program program = new Program();
    private final Map<String, Tensor> feeds = new LinkedHashMap<>();

    private void feed(String name, Tensor value, long... declared) {
        program.global().put(VarDesc.of(name, VarType.dense(value.dtype(), declared)));
        feeds.put(name, value);
    }

    private void add(OpDesc.Builder op) {
        Appender.append(program.global(), op.build(), Roles.FORWARD);
    }

    private static Map<String, Tensor> run(Program program, Map<String, Tensor> feeds, List<String> fetches) {
        Map<String, Tensor> copies = new LinkedHashMap<>();
        feeds.forEach((name, value) -> {
            Tensor copy = Tensor.allocate(value.dtype(), value.shape().dims());
            copy.memory().copyFrom(value.memory());
            copies.put(name, copy);
        });
        return Interpreter.of(Kernels.portable()).run(program, copies, fetches);
    }

    /** Rewrites the program, and compares what both compute. */
    private Program rewritten(String describe, double tolerance, String... fetches) {
        String before = program.toString();
        Program rewritten = PaddleForms.of(program, List.of(fetches), TargetSchema.paddle2());
        assertEquals(before, program.toString(), "the original is not changed");
        Map<String, Tensor> expected = run(program, feeds, List.of(fetches));
        Map<String, Tensor> actual = run(rewritten, feeds, List.of(fetches));
        for (String fetch : fetches) {
            Tensor want = Objects.requireNonNull(expected.get(fetch));
            Tensor have = Objects.requireNonNull(actual.get(fetch));
            assertEquals(want.spec(), have.spec(), describe);
            assertArrayEquals(want.toDoubleArray(), have.toDoubleArray(), tolerance, describe);
        }
        return rewritten;
    }

    private static Tensor random(Random random, long... dims) {
        double[] values = new double[Math.toIntExact(Arrays.stream(dims).reduce(1, Math::multiplyExact))];
        Arrays.setAll(values, _ -> random.nextInt(-4, 5));
        return Tensor.of(DType.FLOAT64, values, dims);
    }

    private static List<OpDesc> ofType(Program program, String type) {
        return program.blocks().stream().map(Block::ops).flatMap(List::stream).filter(op -> op.type().equals(type))
                .toList();
    }

    private static long[] open(long[] dims) {
        long[] open = dims.clone();
        Arrays.fill(open, 2, open.length, -1);
        return open;
    }

    /** Windows of all strides, kernels, dilations and lengths; the lengths open or not. */
    @Test
    void padsAsOnnxDoes() {
        long seed = Long.getLong("seriatim.seed", 7);
        Random random = new Random(seed);
        for (int i = 0; i < CASES; i++) {
            PaddleFormsTest one = new PaddleFormsTest();
            String described = "seed " + seed + ", case " + i + ": " + one.window(random);
            Program written = one.rewritten(described, 1e-9, "y");
            for (Block block : written.blocks()) {
                for (OpDesc op : block.ops()) {
                    assertTrue(!(op.attribute("padding_algorithm") instanceof Attribute.Text(String algorithm))
                            || List.of("EXPLICIT", "SAME", "VALID").contains(algorithm), described);
                }
            }
        }
    }

    private String window(Random random) {
        int spatial = random.nextInt(2, 4);
        int[] strides = new int[spatial];
        int[] dilations = new int[spatial];
        int[] kernel = new int[spatial];
        long[] image = new long[spatial + 2];
        long[] filter = new long[spatial + 2];
        image[0] = 2;
        image[1] = 2;
        filter[0] = 3;
        filter[1] = 2;
        boolean dilated = random.nextBoolean();
        for (int i = 0; i < spatial; i++) {
            strides[i] = random.nextInt(1, 4);
            dilations[i] = dilated ? random.nextInt(1, 3) : 1;
            kernel[i] = random.nextInt(1, 4);
            filter[2 + i] = kernel[i];
            image[2 + i] = random.nextInt(4, 9);
        }
        String algorithm = random.nextBoolean() ? "SAME_UPPER" : "SAME_LOWER";
        String kind = List.of("conv", "max", "avg", "avg_padded").get(random.nextInt(4));
        feed("x", random(random, image), random.nextInt(4) == 0 ? image : open(image));
        OpDesc.Builder op;
        if (kind.equals("conv")) {
            feed("w", random(random, filter), filter);
            op = OpDesc.of("conv" + spatial + "d").in("Input", "x").in("Filter", "w").out("Output", "y")
                    .attr("dilations", dilations);
        } else {
            op = OpDesc.of("pool" + spatial + "d").in("X", "x").out("Out", "y").attr("ksize", kernel)
                    .attr("pooling_type", kind.equals("max") ? "max" : "avg")
                    .attr("exclusive", !kind.equals("avg_padded"));
        }
        add(op.attr("strides", strides).attr("paddings", new int[spatial]).attr("padding_algorithm", algorithm));
        return kind + " " + algorithm + " image " + Arrays.toString(image) + " kernel " + Arrays.toString(kernel)
                + " strides " + Arrays.toString(strides) + " dilations " + Arrays.toString(dilations);
    }

    /** Those of PaddlePaddle's pool2d are wrong: those of an operation that gives their places are right. */
    @ParameterizedTest
    @CsvSource({"NCHW,1,false", "NCHW,2,false", "NCHW,3,true", "NHWC,1,false", "NHWC,2,false", "NHWC,2,true"})
    void writesAdaptiveMaximaWithTheirPlaces(String layout, int size, boolean global) {
        long[] dims = layout.equals("NCHW") ? new long[]{2, 3, 5, 4} : new long[]{2, 5, 4, 3};
        feed("x", random(new Random(5), dims), dims);
        add(OpDesc.of("pool2d").in("X", "x").out("Out", "y").attr("ksize", new int[]{size, size}).attr("adaptive", true)
                .attr("pooling_type", "max").attr("data_format", layout).attr("global_pooling", global));
        for (OpDesc op : ofType(rewritten(layout + size, 0, "y"), "pool2d")) {
            assertEquals(new Attribute.Bool(false), op.attribute("adaptive"));
        }
    }

    /** PaddlePaddle refuses to drop elements of a vector in inference. */
    @Test
    void scalesVectorsInsteadOfDroppingElements() {
        feed("x", Tensor.of(DType.FLOAT64, new double[]{1, -2, 3}, 3), 3);
        add(OpDesc.of("dropout").in("X", "x").out("Out", "y").out("Mask", "m").attr("dropout_prob", 0.25f)
                .attr("is_test", true));
        assertEquals(List.of(), ofType(rewritten("dropout", 1e-6, "y"), "dropout"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void updatesStatisticsInPlace(boolean training) {
        feed("x", random(new Random(3), 2, 3, 4), 2, 3, 4);
        for (String each : List.of("scale", "bias", "mean", "variance")) {
            feed(each, Tensor.of(DType.FLOAT64, new double[]{1, 2, 3}, 3), 3);
        }
        add(OpDesc.of("batch_norm").in("X", "x").in("Scale", "scale").in("Bias", "bias").in("Mean", "mean")
                .in("Variance", "variance").out("Y", "y").out("MeanOut", "m").out("VarianceOut", "v")
                .out("SavedMean", "sm").out("SavedVariance", "sv").attr("is_test", !training));
        add(OpDesc.of("elementwise_add").in("X", "m").in("Y", "mean").out("Out", "z").attr("axis", -1));
        OpDesc op = ofType(rewritten("training " + training, 1e-9, "y", "z", "v", "variance"), "batch_norm").getFirst();
        assertEquals(op.input("Mean"), op.output("MeanOut"));
        assertEquals(op.input("Variance"), op.output("VarianceOut"));
        assertEquals(!training, op.input("Mean").equals(List.of("mean")));
    }

    @Test
    void aResultInPlaceNeedsNoCopyIfNothingReadsIt() {
        for (String each : List.of("x", "scale", "bias", "mean", "variance")) {
            feed(each, Tensor.of(DType.FLOAT64, new double[]{1, 2, 3}, each.equals("x")
                    ? new long[]{1, 3}
                    : new long[]{
                            3}),
                    each.equals("x") ? new long[]{1, 3} : new long[]{3});
        }
        add(OpDesc.of("batch_norm").in("X", "x").in("Scale", "scale").in("Bias", "bias").in("Mean", "mean")
                .in("Variance", "variance").out("Y", "y").out("MeanOut", "m").out("VarianceOut", "v")
                .out("SavedMean", "sm").out("SavedVariance", "sv").attr("is_test", true));
        assertEquals(1, rewritten("unread", 1e-9, "y").global().ops().size());
    }

    private void einsum(String equation, long[][] shapes, boolean open) {
        Random random = new Random(equation.hashCode());
        List<String> names = new ArrayList<>();
        for (long[] shape : shapes) {
            String name = "x" + names.size();
            names.add(name);
            long[] declared = shape.clone();
            if (open) {
                Arrays.fill(declared, -1);
            }
            feed(name, random(random, shape), declared);
        }
        add(OpDesc.of("einsum").in("Operands", names).out("Out", "y").attr("equation", equation));
        for (OpDesc op : ofType(rewritten(equation + " open " + open, 1e-9, "y"), "einsum")) {
            String written = ((Attribute.Text) Objects.requireNonNull(op.attribute("equation"))).value();
            assertTrue(written.matches("(?!.*([a-z])[a-z]*\\1)[a-z]*(,[a-z]*)?->[a-z]*"), equation + ": " + written);
            assertEquals(written.contains(",") ? 2 : 1, op.input("Operands").size());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"ij,jk->ik; 2 3, 3 4", "ij,jk; 2 3, 3 4", "ii; 3 3", "ii->i; 3 3",
            "aab->ba; 2 2 3", "i,i; 3, 3", "...ij,...jk->...ik; 5 2 3, 5 3 4", "...ij,jk->...ik; 5 2 3, 3 4",
            "...ij->...ji; 4 5 2 3", "i...->...; 2 3 4", "ab,bc,cd->ad; 2 3, 3 4, 4 5", "ab,bc,cd; 2 3, 3 4, 4 5",
            "a,b,c,d->dcba; 2, 3, 4, 5", "' ij , jk -> ik '; 2 3, 3 4", "iJ,Jk->ik; 2 3, 3 4", "Ab,bA->; 2 3, 3 2",
            "iiijj->j; 2 2 2 3 3", "i->ii; 3", "ij->iji; 3 2", "bii,i->bi; 2 3 3, 3", "ijk->; 2 3 4",
            "abc,bd,ae,f->fdc; 2 3 4, 3 5, 2 2, 3", "...,...->...; 2 3, 2 3", "...a,...b; 2 3, 2 4"})
    void writesEquationsThatPaddleTakes(String equation, String operands) {
        long[][] shapes = Arrays.stream(operands.split(","))
                .map(each -> Arrays.stream(each.strip().split(" ")).mapToLong(Long::parseLong).toArray())
                .toArray(long[][]::new);
        einsum(equation, shapes, false);
        new PaddleFormsTest().einsum(equation, shapes, true);
    }

    @Test
    void writesRandomEquations() {
        long seed = Long.getLong("seriatim.seed", 11);
        Random random = new Random(seed);
        for (int i = 0; i < CASES; i++) {
            String labels = "abcXY";
            int count = random.nextInt(1, 4);
            List<String> terms = new ArrayList<>();
            long[][] shapes = new long[count][];
            for (int operand = 0; operand < count; operand++) {
                StringBuilder term = new StringBuilder();
                int rank = random.nextInt(1, 4);
                shapes[operand] = new long[rank];
                for (int axis = 0; axis < rank; axis++) {
                    int label = random.nextInt(labels.length());
                    term.append(labels.charAt(label));
                    shapes[operand][axis] = 2L + label % 3;
                }
                terms.add(term.toString());
            }
            String equation = String.join(random.nextBoolean() ? "," : " , ", terms);
            if (random.nextBoolean()) {
                List<Character> result = new ArrayList<>();
                String.join("", terms).chars().distinct().filter(_ -> random.nextBoolean())
                        .forEach(label -> result.add(random.nextInt(result.size() + 1), (char) label));
                equation += "->" + result.stream().map(String::valueOf).reduce("", String::concat);
            }
            new PaddleFormsTest().einsum(equation, shapes, random.nextBoolean());
        }
    }

    /** Kernels of images in the order of other names read other dimensions, or stop. */
    @ParameterizedTest
    @CsvSource({"NCW,NCHW", "NCDHW,NCHW", "AnyLayout,NCHW", "NWC,NHWC", "NDHWC,NHWC", "NLC,NHWC"})
    void namesTheOrderOfDimensionsAsKernelsDo(String given, String written) {
        feed("x", random(new Random(9), 1, 4, 4, 4), 1, 4, 4, 4);
        add(OpDesc.of("bilinear_interp_v2").in("X", "x").out("Out", "y").attr("data_layout", given).attr("out_h", 3)
                .attr("out_w", 5));
        add(OpDesc.of("group_norm").in("X", "x").out("Y", "z").out("Mean", "m").out("Variance", "v")
                .attr("groups", 2).attr("data_layout", given));
        Program rewritten = rewritten(given, 0, "y", "z");
        for (OpDesc op : rewritten.global().ops()) {
            assertEquals(new Attribute.Text(written), op.attribute("data_layout"), op.type());
        }
    }

    /** PaddlePaddle has a float64 between the text and the elements. */
    @ParameterizedTest
    @CsvSource({"9007199254740993,false", "-9223372036854775807,false", "9007199254740993,true"})
    void wholeNumbersKeepTheirLastDigit(String text, boolean computed) {
        OpDesc.Builder op = OpDesc.of("fill_constant").out("Out", "y").attr("dtype", 3).attr("value", 1f)
                .attr("str_value", text);
        if (computed) {
            feed("shape", Tensor.of(new long[]{2, 3}, 2), 2);
            op.in("ShapeTensor", "shape");
        } else {
            op.attr("shape", new long[]{2, 2});
        }
        program.global().put(VarDesc.of("y", VarType.dense(DType.INT64, -1, -1)));
        add(op);
        Program rewritten = PaddleForms.of(program, List.of("y"), TargetSchema.paddle2());
        assertEquals(List.of(), ofType(rewritten, "fill_constant"));
        long[] values = Objects.requireNonNull(run(rewritten, feeds, List.of("y")).get("y")).toLongArray();
        assertEquals(computed ? 6 : 4, values.length);
        for (long each : values) {
            assertEquals(Long.parseLong(text), each);
        }
    }

    @Test
    void numbersThatAFloat64HasStay() {
        add(OpDesc.of("fill_constant").out("Out", "y").attr("dtype", 3).attr("shape", new long[]{2}).attr("value", 0f)
                .attr("str_value", "9007199254740992"));
        assertEquals(1, ofType(PaddleForms.of(program, List.of("y"), TargetSchema.paddle3()), "fill_constant").size());
    }

    /** PaddlePaddle 3 rounds halves to even numbers. */
    @Test
    void roundsHalvesAwayFromZeroInPaddle3() {
        double[] values = {0.5, 1.5, 2.5, -0.5, -2.5, 0.49999999999999994, 3.2, -3.7, 1e18, Double.POSITIVE_INFINITY,
                Double.NaN, 0};
        feed("x", Tensor.of(DType.FLOAT64, values, values.length), values.length);
        add(OpDesc.of("round").in("X", "x").out("Out", "y"));
        Program written = PaddleForms.of(program, List.of("y"), TargetSchema.paddle3());
        assertEquals(List.of(), ofType(written, "round"));
        assertArrayEquals(Objects.requireNonNull(run(program, feeds, List.of("y")).get("y")).toDoubleArray(),
                Objects.requireNonNull(run(written, feeds, List.of("y")).get("y")).toDoubleArray());
    }

    /** PaddlePaddle 2 rounds halves away from zero. */
    @Test
    void roundsHalvesToEvenInPaddle2() {
        double[] values = {0.5, 1.5, 2.5, -0.5, -2.5, 0.49999999999999994, 3.2, -3.7, 1e18, Double.POSITIVE_INFINITY,
                Double.NaN, 0};
        feed("x", Tensor.of(DType.FLOAT64, values, values.length), values.length);
        add(OpDesc.of("round").in("X", "x").out("Out", "y").attr("half_to_even", true));
        Program written = rewritten("halves", 0, "y");
        assertTrue(ofType(written, "round").stream().noneMatch(op -> Boolean.TRUE.equals(value(op, "half_to_even"))));
    }

    private static Object value(OpDesc op, String attribute) {
        return op.attribute(attribute) instanceof Attribute.Bool(boolean value) && value;
    }

    /** In the middle between two elements, PaddlePaddle 3 takes that with an even number. */
    @ParameterizedTest
    @CsvSource({"zeros,false,5", "zeros,true,5", "border,false,6", "border,true,6", "border,true,1", "zeros,false,1"})
    void takesTheOuterElementInPaddle3(String padding, boolean corners, int length) {
        Random random = new Random(3);
        double[] grid = new double[60 * 2];
        for (int i = 0; i < grid.length; i++) {
            double place = random.nextInt(-4, 2 * length + 4) / 2.0;
            double half = i % 2 == 0 ? corners ? Math.max(1, length - 1) / 2.0 : length / 2.0 : corners ? 1.5 : 2;
            grid[i] = (place + (corners ? 0 : 0.5)) / half - 1;
        }
        feed("x", random(random, 1, 2, 4, length), 1, 2, 4, length);
        feed("grid", Tensor.of(DType.FLOAT64, grid, 1, 6, 10, 2), 1, -1, -1, 2);
        add(OpDesc.of("grid_sampler").in("X", "x").in("Grid", "grid").out("Output", "y").attr("mode", "nearest")
                .attr("padding_mode", padding).attr("align_corners", corners));
        Program written = PaddleForms.of(program, List.of("y"), TargetSchema.paddle3());
        OpDesc only = ofType(written, "grid_sampler").getFirst();
        assertEquals(true, value(only, "half_to_even"));
        assertArrayEquals(Objects.requireNonNull(run(program, feeds, List.of("y")).get("y")).toDoubleArray(),
                Objects.requireNonNull(run(written, feeds, List.of("y")).get("y")).toDoubleArray());
        program.global().set(0, program.global().ops().getFirst().with("half_to_even", true));
        assertEquals(program.global().ops(), PaddleForms.of(program, List.of("y"), TargetSchema.paddle3()).global()
                .ops());
    }

    /** PaddlePaddle leaves memory as it was allocated, which is filled with zeros here. */
    @ParameterizedTest
    @CsvSource({"false,false,true,0", "false,true,true,7", "true,false,false,7", "true,true,true,7"})
    void fillsMemoryThatNothingWrites(boolean copied, boolean filled, boolean fills, float constant) {
        feed("x", Tensor.of(new float[]{1, 2}, 2), 2);
        add(OpDesc.of("coalesce_tensor").in("Input", "x").out("Output", "y").out("FusedOutput", "all").attr("dtype", 5)
                .attr("copy_data", copied).attr("set_constant", filled).attr("constant", 7f));
        for (TargetSchema schema : List.of(TargetSchema.paddle2(), TargetSchema.paddle3())) {
            Program written = PaddleForms.of(program, List.of("y"), schema);
            OpDesc only = ofType(written, "coalesce_tensor").getFirst();
            assertEquals(fills, value(only, "set_constant"));
            assertEquals(new Attribute.Real(constant), only.attribute("constant"));
            assertArrayEquals(Objects.requireNonNull(run(program, feeds, List.of("y")).get("y")).toDoubleArray(),
                    Objects.requireNonNull(run(written, feeds, List.of("y")).get("y")).toDoubleArray());
        }
    }

    /** PaddlePaddle 3 cuts at −2 and 2, whatever the mean is. */
    @Test
    void cutsAtTwoDeviationsFromTheMean() {
        add(OpDesc.of("truncated_gaussian_random").out("Out", "y").attr("shape", new int[]{200}).attr("mean", 5f)
                .attr("std", 0.5f).attr("seed", 3));
        Program written = PaddleForms.of(program, List.of("y"), TargetSchema.paddle3());
        OpDesc draws = ofType(written, "truncated_gaussian_random").getFirst();
        assertEquals(new Attribute.Real(0), draws.attribute("mean"));
        assertEquals(new Attribute.Real(1), draws.attribute("std"));
        double[] values = Objects.requireNonNull(run(written, feeds, List.of("y")).get("y")).toDoubleArray();
        assertTrue(Arrays.stream(values).allMatch(each -> each >= 4 && each <= 6), Arrays.toString(values));
        assertTrue(Arrays.stream(values).max().orElseThrow() > 5.5, Arrays.toString(values));
        assertEquals(program.global().ops(), PaddleForms.of(program, List.of("y"), TargetSchema.paddle2()).global()
                .ops());
    }

    /** At zero, PaddlePaddle 3 has infinities, and PaddlePaddle 2 no number. */
    @ParameterizedTest
    @CsvSource({"false,FLOAT32", "true,FLOAT32", "false,FLOAT64", "true,FLOAT64"})
    void keepsDigammaAtZero(boolean infinite, DType dtype) {
        double[] values = {0, -0.0, 1, -1, -2.5, 3, Double.NaN, Double.POSITIVE_INFINITY, 1e-20, -1e-20};
        feed("x", Tensor.of(dtype, values, values.length), values.length);
        add(OpDesc.of("digamma").in("X", "x").out("Out", "y").attr("infinite_at_zero", infinite));
        double[] expected = Objects.requireNonNull(run(program, feeds, List.of("y")).get("y")).toDoubleArray();
        assertEquals(infinite ? Double.NEGATIVE_INFINITY : Double.NaN, expected[0]);
        assertEquals(infinite ? Double.POSITIVE_INFINITY : Double.NaN, expected[1]);
        for (TargetSchema schema : List.of(TargetSchema.paddle2(), TargetSchema.paddle3())) {
            Program written = PaddleForms.of(program, List.of("y"), schema);
            assertEquals(schema == TargetSchema.paddle3(),
                    value(ofType(written, "digamma").getFirst(), "infinite_at_zero"));
            assertArrayEquals(expected,
                    Objects.requireNonNull(run(written, feeds, List.of("y")).get("y")).toDoubleArray());
        }
    }

    /** Of one matrix, PaddlePaddle 3 has a scalar, and PaddlePaddle 2 a vector. */
    @ParameterizedTest
    @CsvSource({"false,1", "true,1", "false,2", "true,2"})
    void keepsTheShapeOfInfos(boolean scalar, int matrices) {
        long[] dims = matrices == 1 ? new long[]{3, 3} : new long[]{matrices, 3, 3};
        feed("x", random(new Random(5), dims), dims);
        add(OpDesc.of("lu").in("X", "x").out("Out", "y").out("Pivots", "p").out("Infos", "i")
                .attr("scalar_infos", scalar));
        Tensor expected = Objects.requireNonNull(run(program, feeds, List.of("i")).get("i"));
        assertEquals(matrices == 1 && scalar ? 0 : 1, expected.shape().rank());
        for (TargetSchema schema : List.of(TargetSchema.paddle2(), TargetSchema.paddle3())) {
            Program written = PaddleForms.of(program, List.of("i"), schema);
            assertEquals(schema == TargetSchema.paddle3(), value(ofType(written, "lu").getFirst(), "scalar_infos"));
            assertEquals(expected.spec(), Objects.requireNonNull(run(written, feeds, List.of("i")).get("i")).spec());
        }
    }

    /** PaddlePaddle computes what flags ask for, and stops where the variable is missing. */
    @ParameterizedTest
    @ValueSource(strings = {"unique", "unique_consecutive"})
    void asksForTheResultsThatAreRead(String type) {
        feed("x", Tensor.of(new long[]{3, 3, 1, 3}, 4), 4);
        OpDesc.Builder op = OpDesc.of(type).in("X", "x").out("Out", "y").out("Index", "i").attr("return_counts", true)
                .attr("dtype", 3);
        add(type.equals("unique") ? op.attr("is_sorted", true) : op);
        OpDesc written = PaddleForms.of(program, List.of("y", "i"), TargetSchema.paddle2()).global().ops().getFirst();
        assertEquals(true, value(written, "return_inverse"));
        assertEquals(false, value(written, "return_counts"));
        written = PaddleForms.of(program, List.of("y"), TargetSchema.paddle3()).global().ops().getFirst();
        assertEquals(false, value(written, "return_inverse"));
    }

    /** Without a tolerance, the rank is that of rounding errors. */
    @Test
    void refusesRanksOfRoundingErrors() {
        feed("x", random(new Random(2), 3, 3), 3, 3);
        add(OpDesc.of("matrix_rank").in("X", "x").out("Out", "y").attr("use_default_tol", false));
        assertEquals("The model cannot be written for PaddlePaddle, whose results would be others: 'matrix_rank' (of "
                + "'y') with tol = 0.0, which counts rounding errors as rank: give a tolerance above 0, or set "
                + "use_default_tol", refusal());
        program.global().set(0, program.global().ops().getFirst().with("tol", 0.5f));
        rewritten("a tolerance", 0, "y");
    }

    private String refusal() {
        return String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> PaddleForms.of(program, List.of("y"), TargetSchema.paddle3())).getMessage());
    }

    /** A scale decides on the places, and a size on how many there are: PaddlePaddle reads behind the image. */
    @ParameterizedTest
    @CsvSource({"NCHW,nearest,5 7,2 2,true", "NCHW,nearest,8 9,2 2,false", "NHWC,bilinear,5 7,2,true",
            "NHWC,bilinear,5 9,2,false", "NCHW,bilinear,3 3,0.5 2,false", "NCHW,bicubic,3 3,0.5 2,true"})
    void refusesPlacesBehindTheImage(String layout, String method, String size, String scale, boolean fits) {
        feed("x", random(new Random(4), 1, 4, 4, 4), 1, 4, 4, 4);
        add(OpDesc.of("assign_value").out("Out", "size").attr("shape", new int[]{2}).attr("dtype", 2)
                .attr("int32_values", Arrays.stream(size.split(" ")).mapToInt(Integer::parseInt).toArray()));
        double[] given = Arrays.stream(scale.split(" ")).mapToDouble(Double::parseDouble).toArray();
        float[] scales = new float[given.length];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = (float) given[i];
        }
        add(OpDesc.of(method + "_interp_v2").in("X", "x").in("OutSize", "size").out("Out", "y")
                .attr("interp_method", method).attr("data_layout", layout).attr("align_corners", false)
                .attr("scale", scales));
        if (fits) {
            Program written = rewritten(method, 1e-9, "y");
            assertEquals(2, ofType(written, method + "_interp_v2").getFirst()
                    .attribute("scale") instanceof Attribute.Reals(List<Float> all) ? all.size() : 0);
        } else {
            assertTrue(refusal().contains("reads behind the 4 elements of spatial axis"), refusal());
        }
    }

    @Test
    void refusesSizesBesideScalesThatOnlyARunKnows() {
        feed("x", random(new Random(4), 1, 4, 4, 4), 1, 4, -1, 4);
        feed("size", Tensor.of(DType.INT32, new double[]{5, 7}, 2), 2);
        add(OpDesc.of("nearest_interp_v2").in("X", "x").in("OutSize", "size").out("Out", "y")
                .attr("interp_method", "nearest").attr("align_corners", false).attr("scale", new float[]{2, 2}));
        assertTrue(refusal().endsWith("give OutSize without a scale, or a scale without OutSize"), refusal());
        program.global().set(0, program.global().ops().getFirst().with("align_corners", true));
        rewritten("corners decide on the places", 0, "y");
    }

    /** Without the flag, PaddlePaddle has no value, or one of another shape. */
    @ParameterizedTest
    @CsvSource({"lu_unpack,unpack_pivots,Pmat", "lu_unpack,unpack_ludata,L", "lu_unpack,unpack_ludata,U", "qr,mode,Q"})
    void givesResultsThatAreNotAskedForAValue(String type, String flag, String slot) {
        feed("x", random(new Random(6), 3, 3), 3, 3);
        OpDesc.Builder op = OpDesc.of(type).in("X", "x").attr(flag, type.equals("qr") ? (Object) "r" : false);
        if (type.equals("qr")) {
            op.out("Q", "q").out("R", "r");
        } else {
            feed("pivots", Tensor.of(DType.INT32, new double[]{2, 3, 3}, 3), 3);
            op.in("Pivots", "pivots").out("Pmat", "p").out("L", "l").out("U", "u");
        }
        add(op);
        String read = program.global().ops().getFirst().output(slot).getFirst();
        Tensor expected = Objects.requireNonNull(run(program, feeds, List.of(read)).get(read));
        assertEquals(type.equals("qr") ? 0 : 1, expected.shape().size());
        for (TargetSchema schema : List.of(TargetSchema.paddle2(), TargetSchema.paddle3())) {
            Program written = PaddleForms.of(program, List.of(read), schema);
            assertEquals(List.of(read), ofType(written, "fill_constant").getFirst().output("Out"));
            assertEquals(expected.spec(), Objects.requireNonNull(run(written, feeds, List.of(read)).get(read)).spec());
        }
    }

    /** Any order is one without order, and the attribute's shape is that before a tensor's. */
    @Test
    void decidesWhatIsLeftOpen() {
        feed("x", random(new Random(8), 3, 5), 3, 5);
        feed("shape", Tensor.of(new long[]{2}, 1), 1);
        add(OpDesc.of("top_k_v2").in("X", "x").out("Out", "y").out("Indices", "i").attr("k", 2).attr("sorted", false));
        for (String type : List.of("uniform_random", "gaussian_random")) {
            add(OpDesc.of(type).in("ShapeTensor", "shape").out("Out", type).attr("shape", new long[]{3}));
        }
        Program written = PaddleForms.of(program, List.of("y", "uniform_random"), TargetSchema.paddle3());
        assertEquals(true, value(written.global().ops().getFirst(), "sorted"));
        for (OpDesc op : written.global().ops().subList(1, 3)) {
            assertEquals(List.of(), op.input("ShapeTensor"), op.type());
        }
    }

    /** PaddlePaddle 2 reduces the axes that are named, whatever the flag says. */
    @ParameterizedTest
    @ValueSource(strings = {"reduce_amax", "reduce_amin"})
    void namesAllAxesThatAreReduced(String type) {
        feed("x", random(new Random(9), 3, 5), 3, -1);
        add(OpDesc.of(type).in("X", "x").out("Out", "y").attr("dim", new int[]{0}).attr("reduce_all", true));
        assertEquals(new Attribute.Ints(List.of(0, 1)),
                ofType(rewritten(type, 0, "y"), type).getFirst().attribute("dim"));
    }

    /** Of volumes, PaddlePaddle 2 finds no element at 4.1 of 5, and PaddlePaddle 3 the last. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void findsNoElementBehindTheEndsOfVolumes(boolean corners) {
        double[] places = {-0.6, -0.55, -0.25, 0.25, 0.6, 1.6, 2.6, 3.75, 3.9, 4.125, 4.4, 4.45, 4.6};
        double[] grid = new double[places.length * 3];
        for (int i = 0; i < places.length; i++) {
            grid[3 * i] = corners ? places[i] / 2 - 1 : (places[i] + 0.5) / 2.5 - 1;
        }
        feed("x", Tensor.of(DType.FLOAT32, new double[]{1, 2, 3, 4, 5}, 1, 1, 1, 1, 5), 1, 1, 1, 1, 5);
        feed("grid", Tensor.of(DType.FLOAT32, grid, 1, 1, 1, places.length, 3), 1, 1, 1, -1, 3);
        add(OpDesc.of("grid_sampler").in("X", "x").in("Grid", "grid").out("Output", "y").attr("mode", "nearest")
                .attr("align_corners", corners));
        double[] expected = {0, 0, 0, 1, 2, 3, 4, 5, 5, 0, 0, 0, 0};
        assertArrayEquals(expected, Objects.requireNonNull(run(program, feeds, List.of("y")).get("y"))
                .toDoubleArray());
        Program written = PaddleForms.of(program, List.of("y"), TargetSchema.paddle3());
        assertEquals(true, value(ofType(written, "grid_sampler").getFirst(), "half_to_even"));
        assertArrayEquals(expected, Objects.requireNonNull(run(written, feeds, List.of("y")).get("y"))
                .toDoubleArray());
        program.global().set(0, program.global().ops().getFirst().with("half_to_even", true));
        assertArrayEquals(new double[]{0, 0, 1, 1, 2, 3, 4, 5, 5, 5, 5, 5, 0},
                Objects.requireNonNull(run(program, feeds, List.of("y")).get("y")).toDoubleArray());
    }

    /** Neither is there a kernel for bytes nor does that for other levels compute the numbers of PaddlePaddle 2. */
    @ParameterizedTest
    @CsvSource({"-1,8,INT8", "0,8,INT8", "1,4,FLOAT32", "0,5,FLOAT64"})
    void computesTheNumbersOfLevelsInPaddle3(int axis, int bits, DType dtype) {
        feed("x", Tensor.of(dtype, new double[]{1, -2, 3, 7, -8, 5}, 2, 3), 2, -1);
        int scales = axis < 0 ? 1 : axis == 0 ? 2 : 3;
        feed("scale", Tensor.of(DType.FLOAT32, Arrays.copyOf(new double[]{0.5, 2, 3}, scales), scales), scales);
        feed("zero", Tensor.of(DType.FLOAT32, new double[scales], scales), scales);
        add(OpDesc.of("dequantize_linear").in("X", "x").in("Scale", "scale").in("ZeroPoint", "zero").out("Y", "y")
                .attr("quant_axis", axis).attr("bit_length", bits));
        Program written = PaddleForms.of(program, List.of("y"), TargetSchema.paddle3());
        assertEquals(List.of(), ofType(written, "dequantize_linear"));
        assertArrayEquals(Objects.requireNonNull(run(program, feeds, List.of("y")).get("y")).toDoubleArray(),
                Objects.requireNonNull(run(written, feeds, List.of("y")).get("y")).toDoubleArray(), 1e-6);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"3;4;true;true", "3;3;false;false", "3;3 4;false;false",
            "2 3 2 3;6 3 4;false;false"})
    void productsOfVectorsAndUnlikeBatchesInPaddle3(String x, String y, boolean left, boolean right) {
        long[][] shapes = Arrays.stream(new String[]{x, y})
                .map(each -> Arrays.stream(each.split(" ")).mapToLong(Long::parseLong).toArray())
                .toArray(long[][]::new);
        feed("x", random(new Random(1), shapes[0]), shapes[0]);
        feed("y", random(new Random(2), shapes[1]), shapes[1]);
        add(OpDesc.of("matmul").in("X", "x").in("Y", "y").out("Out", "z").attr("transpose_X", left)
                .attr("transpose_Y", right).attr("alpha", 2f));
        Program written = PaddleForms.of(program, List.of("z"), TargetSchema.paddle3());
        assertEquals(List.of(), ofType(written, "matmul"));
        Tensor want = Objects.requireNonNull(run(program, feeds, List.of("z")).get("z"));
        Tensor have = Objects.requireNonNull(run(written, feeds, List.of("z")).get("z"));
        assertEquals(want.spec(), have.spec());
        assertArrayEquals(want.toDoubleArray(), have.toDoubleArray(), 1e-9);
    }
}
