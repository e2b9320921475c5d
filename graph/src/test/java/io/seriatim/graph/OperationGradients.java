package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.autodiff.Backward;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The first and second gradients of one operation in float64, at the inputs of a golden case, against differences: of
 * the weighted sum of its results, and of a weighted sum of its gradients. Both are slopes along one random direction
 * of all inputs together.
 */
final class OperationGradients {
    private static final double STEP = 2e-4;
    private static final double TOLERANCE = 1e-5;
    private static final Set<String> TYPES_OF_ELEMENTS = Set.of("dtype", "in_dtype", "out_dtype");

    private static final Set<Attribute> NARROW = Set.of(number(DType.FLOAT32), number(DType.FLOAT16),
            number(DType.BFLOAT16));
    /** Operations of symmetric matrices of which they read one triangle. */
    private static final Set<String> SYMMETRIC = Set.of("cholesky", "eigh", "eigvalsh");

    private final Interpreter interpreter = Interpreter.of(Kernels.portable());
    private final OpDesc op;
    private final Map<String, Tensor> feeds = new LinkedHashMap<>();
    private final List<String> inputs = new ArrayList<>();
    private final List<String> results = new ArrayList<>();
    private final Random random;

    private OperationGradients(GoldenOperations golden) {
        random = new Random(golden.name().hashCode());
        OpDesc found = golden.program().global().ops().stream().filter(each -> each.type().equals(golden.operation()))
                .findFirst().orElseThrow();
        OpDesc changed = found;
        for (Attribute.Named each : found.attributes()) {
            if (TYPES_OF_ELEMENTS.contains(each.name()) && NARROW.contains(each.value())) {
                changed = changed.with(each.name(), number(DType.FLOAT64));
            }
        }
        op = changed;
        for (String name : op.inputNames()) {
            Tensor value = golden.in().get(name);
            if (value != null && !feeds.containsKey(name)) {
                boolean floating = value.dtype().isFloating();
                feeds.put(name, floating ? moved(value) : value);
                if (floating) {
                    inputs.add(name);
                }
            }
        }
    }

    private static Attribute number(DType dtype) {
        return Attribute.of(Objects.requireNonNull(VarType.dense(dtype).tensorType()).dataType());
    }

    /** The symmetric part of square matrices. */
    private double[] symmetric(double[] values, long side) {
        double[] result = values.clone();
        if (SYMMETRIC.contains(op.type())) {
            int n = Math.toIntExact(side);
            for (int i = 0; i < values.length; i++) {
                int first = i - i % (n * n);
                int turned = first + i % n * n + i % (n * n) / n;
                result[i] = (values[i] + values[turned]) / 2;
            }
        }
        return result;
    }

    /** A little beside the values of the case, which may be where a function has a corner. */
    private Tensor moved(Tensor value) {
        double[] values = value.toDoubleArray();
        for (int i = 0; i < values.length; i++) {
            values[i] += random.nextDouble(0.002, 0.012);
        }
        Tensor tensor = Tensor.of(DType.FLOAT64, inputs.isEmpty() ? symmetric(values, side(value)) : values,
                value.shape().dims());
        return value.lod().equals(Lod.NONE) ? tensor : tensor.withLod(value.lod());
    }

    private static long side(Tensor value) {
        return value.shape().rank() == 0 ? 1 : value.shape().dim(-1);
    }

    /** The operation at a case's inputs; null if they are not fit for differences. */
    static @Nullable OperationGradients of(GoldenOperations golden) {
        OperationGradients gradients = new OperationGradients(golden);
        return gradients.isFit(golden) ? gradients : null;
    }

    private boolean isFit(GoldenOperations golden) {
        boolean finite = !golden.meta().contains("\"no_grad\": true") && !inputs.isEmpty()
                && feeds.keySet().containsAll(op.inputNames());
        for (String input : inputs) {
            finite &= isFinite(Objects.requireNonNull(feeds.get(input)));
        }
        if (!finite) {
            return false;
        }
        Program program = forward();
        GradientRule rule = Objects.requireNonNull(Operations.system().get(op.type()).gradient());
        List<OpDesc> made = rule.make(op, _ -> true);
        List<String> written = made.stream().flatMap(each -> each.outputNames().stream()).toList();
        inputs.removeIf(name -> !written.contains(GradientRule.gradient(name)));
        List<String> read = made.stream().flatMap(each -> each.inputNames().stream()).toList();
        for (String name : op.outputNames()) {
            VarDesc desc = program.global().find(name);
            VarType.TensorType tensor = desc == null ? null : desc.type().tensorType();
            if (tensor != null && tensor.dtype() == DType.FLOAT64 && !op.inputNames().contains(name)
                    && read.contains(GradientRule.gradient(name))) {
                results.add(name);
            }
        }
        if (results.isEmpty() || inputs.isEmpty()) {
            return false;
        }
        Map<String, Tensor> values = interpreter.run(program, feeds, results);
        for (String name : results) {
            Tensor value = Objects.requireNonNull(values.get(name));
            if (!isFinite(value) || value.dtype() != DType.FLOAT64) {
                return false;
            }
            int count = Math.toIntExact(value.shape().size());
            feeds.put(weight(name), Tensor.of(DType.FLOAT64, random.doubles(count, 0.5, 1.5).toArray(),
                    value.shape().dims()));
        }
        return true;
    }

    private static boolean isFinite(Tensor tensor) {
        return tensor.shape().size() > 0 && Arrays.stream(tensor.toDoubleArray()).allMatch(Double::isFinite);
    }

    private static String weight(String name) {
        return name + "#weight";
    }

    private Program forward() {
        Program program = new Program();
        Block block = program.global();
        feeds.forEach((name, value) -> block.put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims()))
                .stopping(!value.dtype().isFloating())));
        Operation schema = Operations.system().get(op.type());
        OpDesc plain = op;
        for (Attribute.Named each : op.attributes()) {
            if (schema.attribute(each.name()) == null) {
                plain = plain.without(Set.of(each.name()));
            }
        }
        Appender.append(block, plain, 0);
        return program;
    }

    /** Appends the sum of the weighted elements of some variables. */
    private String weightedSum(Block block, List<String> names, String sum) {
        List<String> parts = new ArrayList<>();
        for (String name : names) {
            // The shapes that inference does not know while a program is built are those of the run.
            block.put(block.get(name).with(VarType.dense(DType.FLOAT64,
                    Objects.requireNonNull(feeds.get(weight(name))).shape().dims())));
            Appender.append(block, OpDesc.of("elementwise_mul").in("X", name).in("Y", weight(name))
                    .out("Out", name + "#weighted").attr("axis", -1).build(), 0);
            Appender.append(block, OpDesc.of("reduce_sum").in("X", name + "#weighted").out("Out", name + "#sum")
                    .attr("dim", new int[0]).attr("reduce_all", true).build(), 0);
            parts.add(name + "#sum");
        }
        Appender.append(block, OpDesc.of("sum").in("X", parts).out("Out", sum).build(), 0);
        return sum;
    }

    /** Compares the first gradients; null if the operation is not smooth along the direction. */
    @Nullable
    Boolean first() {
        Program program = forward();
        String loss = weightedSum(program.global(), results, "#loss");
        Program plain = program.copy();
        List<@Nullable String> gradients = Backward.gradients(program, List.of(loss), List.of(), inputs, Set.of());
        return agree("the first gradient", plain, loss, program, inputs, gradients);
    }

    /** Compares the second gradients; null if the operation is not smooth along the direction. */
    @Nullable
    Boolean second() {
        Program program = forward();
        Block block = program.global();
        String loss = weightedSum(block, results, "#loss");
        List<String> names = new ArrayList<>();
        for (String gradient : Backward.gradients(program, List.of(loss), List.of(), inputs, Set.of())) {
            if (gradient != null && !(block.get(gradient).type() instanceof VarType.Dense)) {
                return null;
            }
            if (gradient != null) {
                names.add(gradient);
            }
        }
        Map<String, Tensor> values = interpreter.run(program, feeds, names);
        for (String name : names) {
            Tensor value = Objects.requireNonNull(values.get(name));
            int count = Math.toIntExact(value.shape().size());
            feeds.put(weight(name),
                    Tensor.of(DType.FLOAT64, random.doubles(count, 0.5, 1.5).toArray(), value.shape().dims()));
            block.put(VarDesc.of(weight(name), VarType.dense(DType.FLOAT64, value.shape().dims())).stopping(true));
        }
        String penalty = weightedSum(block, names, "#penalty");
        Program plain = program.copy();
        List<String> all = new ArrayList<>(inputs);
        results.forEach(name -> all.add(weight(name)));
        List<@Nullable String> gradients = Backward.gradients(program, List.of(penalty), List.of(), all, Set.of());
        return agree("the second gradient", plain, penalty, program, all, gradients);
    }

    private @Nullable Boolean agree(String what, Program plain, String loss, Program program, List<String> at,
            List<@Nullable String> gradients) {
        Map<String, double[]> directions = new LinkedHashMap<>();
        for (String name : at) {
            int count = Math.toIntExact(Objects.requireNonNull(feeds.get(name)).shape().size());
            double[] direction = random.doubles(count, -1, 1).toArray();
            directions.put(name, name.equals(inputs.getFirst())
                    ? symmetric(direction, side(Objects.requireNonNull(feeds.get(name))))
                    : direction);
        }
        double far = slope(plain, loss, directions, STEP);
        double near = slope(plain, loss, directions, STEP / 2);
        List<String> found = gradients.stream().filter(Objects::nonNull).distinct().toList();
        Map<String, Tensor> values = found.isEmpty() ? Map.of() : interpreter.run(program, feeds, found);
        double actual = 0;
        double size = 1;
        for (int i = 0; i < at.size(); i++) {
            String gradient = gradients.get(i);
            if (gradient != null) {
                double[] slopes = Objects.requireNonNull(values.get(gradient)).toDoubleArray();
                double[] direction = Objects.requireNonNull(directions.get(at.get(i)));
                if (slopes.length != direction.length) {
                    throw new AssertionError(what + " of " + at.get(i) + " has another shape in\n" + program);
                }
                for (int k = 0; k < slopes.length; k++) {
                    actual += slopes[k] * direction[k];
                    size += Math.abs(slopes[k] * direction[k]);
                }
            }
        }
        double allowed = TOLERANCE * Math.max(size, Math.abs(near));
        if (!(Math.abs(far - near) <= allowed)) {
            return null;
        }
        if (!(Math.abs(near - actual) <= allowed)) {
            throw new AssertionError(what + " along a direction is " + actual + ", but differences give " + near
                    + " in\n" + program);
        }
        return true;
    }

    /** The five-point formula: its error is of the fourth power of the step. */
    private double slope(Program program, String loss, Map<String, double[]> directions, double step) {
        return (8 * (value(program, loss, directions, step) - value(program, loss, directions, -step))
                - (value(program, loss, directions, 2 * step) - value(program, loss, directions, -2 * step)))
                / (12 * step);
    }

    private double value(Program program, String loss, Map<String, double[]> directions, double step) {
        Map<String, Tensor> moved = new LinkedHashMap<>(feeds);
        directions.forEach((name, direction) -> {
            Tensor tensor = Objects.requireNonNull(feeds.get(name));
            double[] values = tensor.toDoubleArray();
            for (int i = 0; i < values.length; i++) {
                values[i] += step * direction[i];
            }
            Tensor changed = Tensor.of(DType.FLOAT64, values, tensor.shape().dims());
            moved.put(name, tensor.lod().equals(Lod.NONE) ? changed : changed.withLod(tensor.lod()));
        });
        return Objects.requireNonNull(interpreter.run(program, moved, List.of(loss)).get(loss)).toDoubleArray()[0];
    }
}
