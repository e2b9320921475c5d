package io.seriatim.executor;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the registered elementwise operations by running them: if one element of the inputs changes, exactly the
 * corresponding element of the output must change.
 */
final class ElementwiseOperations {
    /** Values in (0, 1), for functions of probabilities, and outside of it, for other functions. */
    private static final List<double[]> PLAIN = List.of(new double[]{0.21, 0.33, 0.47, 0.58, 0.64, 0.72},
            new double[]{-1.7, -0.4, 1.3, 2.8, 3.6, 24.7});
    private static final List<double[]> OTHER = List.of(new double[]{0.83, 0.91, 0.13, 0.27, 0.39, 0.51},
            new double[]{2.6, 4.4, 5.7, -2.3, -3.2, 1.2});
    private static final Interpreter INTERPRETER = Interpreter.of(Kernels.portable());
    private static final long[] DIMS = {3, 2};

    private ElementwiseOperations() {
    }

    /** Returns the required inputs of an operation, in order. */
    static List<String> inputs(Operation operation) {
        return operation.inputs().stream().filter(slot -> !slot.optional()).map(Slot::name).toList();
    }

    static String output(Operation operation) {
        return operation.outputs().getFirst().name();
    }

    /** Returns a call with the value 1 for each attribute without a default, and −1 for a lower bound. */
    static OpDesc.Builder call(Operation operation) {
        OpDesc.Builder op = OpDesc.of(operation.type());
        for (String slot : inputs(operation)) {
            op.in(slot, slot);
        }
        for (AttributeSpec attribute : operation.attributes()) {
            if (attribute.byDefault() == null) {
                if (attribute.type() == Attribute.Int.class) {
                    op.attr(attribute.name(), 1);
                } else if (attribute.type() == Attribute.Real.class) {
                    op.attr(attribute.name(), attribute.name().equals("min") ? -1f : 1f);
                }
            }
        }
        // With their default attributes, these two operations only copy.
        if (operation.type().equals("pow")) {
            op.attr("factor", 2.5f);
        } else if (operation.type().equals("scale")) {
            op.attr("scale", 3f).attr("bias", 0.7f);
        }
        return op.out(output(operation), "result");
    }

    /** Returns the elementwise operations by name, without gradients. */
    static Map<String, Operation> find() {
        Map<String, Operation> found = new TreeMap<>();
        for (Operation operation : Operations.system().all()) {
            List<Slot> outputs = operation.outputs().stream().filter(slot -> !slot.optional() && !slot.intermediate())
                    .toList();
            boolean lists = operation.inputs().stream().anyMatch(slot -> slot.list() && !slot.optional());
            int count = inputs(operation).size();
            if (operation.isLowered() && operation.effects().isEmpty() && outputs.size() == 1
                    && !outputs.getFirst().list() && !lists
                    && count >= 1 && count <= 3 && !operation.type().contains("_grad") && isElementwise(operation)) {
                found.put(operation.type(), operation);
            }
        }
        return found;
    }

    private static boolean isElementwise(Operation operation) {
        for (int i = 0; i < PLAIN.size(); i++) {
            if (isElementwise(operation, PLAIN.get(i), OTHER.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isElementwise(Operation operation, double[] values, double[] others) {
        double[] plain = run(operation, values);
        boolean depends = false;
        for (int i = 0; plain != null && i < values.length; i++) {
            double[] one = values.clone();
            one[i] = others[i];
            double[] changed = run(operation, one);
            // An elementwise operation maps equal elements to equal results, independently of their position.
            Arrays.fill(one, others[i]);
            double[] alike = run(operation, one);
            if (changed == null || alike == null || Arrays.stream(alike).distinct().count() > 1) {
                return false;
            }
            for (int j = 0; j < plain.length; j++) {
                if (Double.compare(plain[j], changed[j]) != 0) {
                    if (i != j) {
                        return false;
                    }
                    depends = true;
                }
            }
        }
        return depends;
    }

    /** Runs an operation; null if it rejects such inputs, or if its result has another shape. */
    private static double @Nullable [] run(Operation operation, double[] values) {
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        List<String> inputs = inputs(operation);
        for (int k = 0; k < inputs.size(); k++) {
            double[] each = values.clone();
            for (int i = 0; i < each.length; i++) {
                each[i] = k == 0 ? each[i] : Math.abs(each[i]) / (k + 1);
            }
            feeds.put(inputs.get(k), Tensor.of(DType.FLOAT32, each, DIMS));
        }
        Program program = new Program();
        program.global().add(call(operation).build());
        try {
            Tensor result = Objects.requireNonNull(INTERPRETER.run(program, feeds, List.of("result")).get("result"));
            return result.dtype().isFloating() && Arrays.equals(result.shape().dims(), DIMS)
                    ? result.toDoubleArray()
                    : null;
        } catch (IllegalArgumentException | IllegalStateException | UnsupportedOperationException e) {
            return null;
        }
    }
}
