package io.seriatim.graph.quantization;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The products and convolutions of a float32 program that can be computed with int8 levels, and the quantized program.
 * {@link #activations} are the variables whose ranges have to be known. {@link #quantized} writes quantize_linear and
 * dequantize_linear around the operands as PaddlePaddle does after training: the weights as int8 levels with a scale
 * for each output channel, the activations with one scale.
 *
 * <p>
 * An operand is left as it is if it is not float32, has several writers, or is written in another block.
 */
public final class QuantizationPlan {
    private static final int LARGEST = 127;
    private static final int BITS = 8;

    private final Program program;
    private final Block block;
    private final Map<String, Tensor> parameters;
    private final Map<OpDesc, Product> products = new LinkedHashMap<>();
    private final Map<String, String> leftOut = new LinkedHashMap<>();
    private final Set<String> activations = new LinkedHashSet<>();
    private final Map<String, Integer> writers = new HashMap<>();
    private final Set<String> elsewhere = new HashSet<>();

    /**
     * An operation with its operands. The axis is that of the weights' channels, −1 if all have one scale.
     */
    private record Product(ProductForms.Slots slots, String x, String y, boolean stored, int axis) {
    }

    /**
     * A quantized program and the parameters that differ from those of the original.
     *
     * @param program
     *            the program
     * @param parameters
     *            the levels of weights, scales and zero points, by name
     * @param quantized
     *            the number of products and convolutions that have int8 operands
     * @param leftOut
     *            the results of products and convolutions that stay as they are, each with the reason
     */
    public record Quantized(Program program, Map<String, Tensor> parameters, int quantized,
            Map<String, String> leftOut) {
        /** Copies the maps. */
        public Quantized {
            parameters = new LinkedHashMap<>(parameters);
            leftOut = new LinkedHashMap<>(leftOut);
        }
    }

    private QuantizationPlan(Program program, Map<String, Tensor> parameters) {
        this.program = program;
        this.block = program.global();
        this.parameters = parameters;
    }

    /**
     * Finds the products and convolutions of the global block.
     *
     * @param program
     *            is not changed
     * @param feeds
     *            the variables that are fed
     * @param parameters
     *            the values of persistable variables
     * @return the plan, perhaps without any product
     * @throws IllegalArgumentException
     *             if the program has operations of quantization
     */
    public static QuantizationPlan of(Program program, Collection<String> feeds, Map<String, Tensor> parameters) {
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                if (op.type().contains("quantize")) {
                    throw new IllegalArgumentException("The model is quantized already: it has the operation "
                            + op.type() + " of " + op.outputNames() + "; quantize the float32 model");
                }
            }
        }
        Program copy = program.copy();
        FullyConnected.expand(copy.global());
        QuantizationPlan plan = new QuantizationPlan(copy, parameters);
        plan.find(feeds);
        return plan;
    }

    /**
     * The float32 program that computes the activations.
     *
     * @return the program, which must not be changed
     */
    public Program program() {
        return program;
    }

    /**
     * The variables whose ranges {@link #quantized} needs.
     *
     * @return the names, in the order of their first use
     */
    public List<String> activations() {
        return List.copyOf(activations);
    }

    /**
     * The products and convolutions that cannot be quantized.
     *
     * @return the results, each with the reason
     */
    public Map<String, String> leftOut() {
        return new LinkedHashMap<>(leftOut);
    }

    private void find(Collection<String> feeds) {
        feeds.forEach(name -> writers.merge(name, 1, Integer::sum));
        block.ops().forEach(op -> op.outputNames().forEach(name -> writers.merge(name, 1, Integer::sum)));
        program.blocks().stream().filter(other -> other != block).forEach(other -> other.ops().forEach(op -> {
            elsewhere.addAll(op.inputNames());
            op.outputNames().forEach(name -> writers.merge(name, 2, Integer::sum));
        }));
        for (OpDesc op : block.ops()) {
            ProductForms.Slots slots = ProductForms.slots(op);
            if (slots != null && isFloat32(op.output(slots.result()).getFirst())) {
                String why = add(op, slots);
                if (why != null) {
                    leftOut.put(op.output(slots.result()).getFirst(), op.type() + ": " + why);
                }
            }
        }
    }

    /** Adds a product; returns why it cannot be added, or null. */
    private @Nullable String add(OpDesc op, ProductForms.Slots slots) {
        String x = op.input(slots.activations()).getFirst();
        String y = op.input(slots.weights()).getFirst();
        String why = whyNoActivation(x);
        if (why != null) {
            return why;
        }
        Tensor weights = parameters.get(y);
        if (weights != null && isPersistable(y) && !writers.containsKey(y)) {
            int rank = weights.shape().rank();
            if (weights.dtype() != DType.FLOAT32 || rank < 2 || weights.shape().size() == 0) {
                return "the weights '" + y + "' are " + weights.spec() + ", not a matrix or kernel of float32";
            }
            int channels = ProductForms.channels(op);
            boolean each = channels >= 0 && (op.type().contains("conv") || rank == 2);
            products.put(op, new Product(slots, x, y, true, each ? channels : -1));
        } else {
            why = slots.weights().equals("Y") ? whyNoActivation(y) : "the weights '" + y + "' are no parameter";
            if (why != null) {
                return why;
            }
            products.put(op, new Product(slots, x, y, false, -1));
            activations.add(y);
        }
        activations.add(x);
        return null;
    }

    private @Nullable String whyNoActivation(String name) {
        if (!isFloat32(name)) {
            return "'" + name + "' is not float32";
        }
        if (isPersistable(name)) {
            return "the operand '" + name + "' is a parameter";
        }
        return writers.getOrDefault(name, 0) == 1 ? null : "'" + name + "' is written several times or not at all";
    }

    private boolean isFloat32(String name) {
        VarDesc desc = block.find(name);
        return desc != null && desc.type() instanceof VarType.Dense dense && dense.tensor().dtype() == DType.FLOAT32;
    }

    private boolean isPersistable(String name) {
        VarDesc desc = block.find(name);
        return desc != null && desc.isPersistable();
    }

    /**
     * The quantized program.
     *
     * @param ranges
     *            for each of {@link #activations} the magnitude that the largest level stands for; operands with a
     *            range of 0 stay as they are
     * @return the program with its parameters
     * @throws IllegalArgumentException
     *             if a range is missing, negative or not finite, or weights hold numbers that are not finite
     */
    public Quantized quantized(Map<String, Float> ranges) {
        for (String name : activations) {
            Float range = ranges.get(name);
            if (range == null || !(range >= 0 && range <= Float.MAX_VALUE)) {
                throw new IllegalArgumentException(
                        "The range of '" + name + "' must be finite and not negative, but is " + range);
            }
        }
        return new Writer(ranges).write();
    }

    /** Writes one quantized program. */
    private final class Writer {
        private final Map<String, Float> ranges;
        private final Program copy = program.copy();
        private final Block to = copy.global();
        private final List<OpDesc> ops = new ArrayList<>();
        private final Map<String, Tensor> made = new LinkedHashMap<>();
        private final Map<String, String> without = new LinkedHashMap<>(leftOut);
        private final Map<Object, String> dequantized = new HashMap<>();
        private final Map<String, Set<Integer>> axes = new HashMap<>();
        private final Set<String> readWhole = new HashSet<>(elsewhere);
        private int count;

        /** Weights and the axis of their channels. */
        private record Weights(String name, int axis) {
        }

        Writer(Map<String, Float> ranges) {
            this.ranges = ranges;
        }

        Quantized write() {
            for (OpDesc op : block.ops()) {
                Product product = products.get(op);
                if (product == null || zero(product) != null) {
                    readWhole.addAll(op.inputNames());
                } else if (product.stored()) {
                    axes.computeIfAbsent(product.y(), _ -> new HashSet<>()).add(product.axis());
                }
            }
            for (OpDesc op : block.ops()) {
                Product product = products.get(op);
                String zero = product == null ? null : zero(product);
                if (product != null && zero != null) {
                    without.put(op.output(product.slots().result()).getFirst(),
                            op.type() + ": '" + zero + "' was 0 in all calibration data");
                }
                ops.add(product == null || zero != null ? op : quantized(op, product));
            }
            to.setOps(ops);
            return new Quantized(copy, made, count, without);
        }

        /** The activation of a product that was always 0, so that no scale is known; null if there is none. */
        private @Nullable String zero(Product product) {
            if (Objects.requireNonNull(ranges.get(product.x())) == 0) {
                return product.x();
            }
            return product.stored() || Objects.requireNonNull(ranges.get(product.y())) != 0 ? null : product.y();
        }

        private OpDesc quantized(OpDesc op, Product product) {
            count++;
            Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
            inputs.put(product.slots().activations(), List.of(activation(product.x(), op)));
            inputs.put(product.slots().weights(), List.of(product.stored()
                    ? weights(product.y(), product.axis(), op)
                    : activation(product.y(), op)));
            return op.with(inputs, op.outputs()).with("with_quant_attr", true).with("quantization_type",
                    product.stored() ? "qat_with_weight" : "qat_without_weight");
        }

        private String activation(String name, OpDesc reader) {
            return dequantized.computeIfAbsent(name, _ -> {
                String scale = parameter(name + "@scale", DType.FLOAT32,
                        Tensor.of(new float[]{Objects.requireNonNull(ranges.get(name))}, 1));
                String levels = like(name, name + ".quantized");
                String result = like(name, name + ".quantized.dequantized");
                ops.add(step("quantize_linear", name, scale, zeroPoint(levels, 1), levels, -1).builtWith(reader));
                ops.add(step("dequantize_linear", levels, scale, zeroPoint(result, 1), result, -1)
                        .builtWith(reader));
                return result;
            });
        }

        private String weights(String name, int axis, OpDesc reader) {
            return dequantized.computeIfAbsent(new Weights(name, axis), _ -> {
                boolean alone = Objects.requireNonNull(axes.get(name)).size() == 1 && !readWhole.contains(name);
                LevelsOfWeights levels = LevelsOfWeights.of(name, Objects.requireNonNull(parameters.get(name)), axis);
                String stored = name;
                if (alone) {
                    made.put(name, levels.levels());
                } else {
                    stored = like(name, name + ".quantized");
                    to.put(to.get(stored).persistent());
                    made.put(stored, levels.levels());
                }
                String scale = parameter(name + "@scale", DType.FLOAT32, levels.scales());
                String result = like(name, name + ".quantized.dequantized");
                ops.add(step("dequantize_linear", stored, scale, zeroPoint(result, levels.scales().shape().size()),
                        result, axis).builtWith(reader));
                return result;
            });
        }

        private static OpDesc step(String type, String x, String scale, String zeroPoint, String y, int axis) {
            return OpDesc.of(type).in("X", x).in("Scale", scale).in("ZeroPoint", zeroPoint).out("Y", y)
                    .attr("quant_axis", axis).attr("bit_length", BITS).attr("round_type", 0).attr("is_test", true)
                    .attr("only_observer", false).attr("op_role", 0).build();
        }

        private String zeroPoint(String of, long count) {
            return parameter(of + "@zero_point", DType.INT32,
                    Tensor.of(DType.INT32, new long[Math.toIntExact(count)], count));
        }

        private String parameter(String wanted, DType dtype, Tensor value) {
            String name = Names.free(to, wanted);
            VarType.TensorType type = new VarType.TensorType(DataTypes.number(dtype), list(value.shape().dims()));
            to.put(VarDesc.of(name, new VarType.Dense(type, 0)).persistent());
            made.put(name, value);
            return name;
        }

        private static List<Long> list(long[] dims) {
            List<Long> list = new ArrayList<>();
            for (long dim : dims) {
                list.add(dim);
            }
            return list;
        }

        /** Declares a variable of the type and shape of another one. */
        private String like(String other, String wanted) {
            String name = Names.free(to, wanted);
            to.put(new VarDesc(name, block.get(other).type(), false, null, null, null));
            return name;
        }
    }

    /** Int8 levels of weights, and a scale for each channel or one for all. */
    private record LevelsOfWeights(Tensor levels, Tensor scales) {
        static LevelsOfWeights of(String name, Tensor weights, int axis) {
            float[] values = weights.toFloatArray();
            long[] dims = weights.shape().dims();
            int channels = axis < 0 ? 1 : Math.toIntExact(dims[axis]);
            int inner = axis < 0 ? values.length : Math.toIntExact(weights.shape().slice(axis + 1, dims.length).size());
            float[] scales = new float[channels];
            for (int i = 0; i < values.length; i++) {
                if (!Float.isFinite(values[i])) {
                    throw new IllegalArgumentException("The weights '" + name + "' hold " + values[i] + " at element "
                            + i + ": only finite weights can be quantized");
                }
                int channel = i / inner % channels;
                scales[channel] = Math.max(scales[channel], Math.abs(values[i]));
            }
            long[] levels = new long[values.length];
            for (int i = 0; i < levels.length; i++) {
                float scale = scales[i / inner % channels];
                levels[i] = scale == 0 ? 0 : Math.round(Math.rint((double) values[i] * LARGEST / scale));
            }
            return new LevelsOfWeights(Tensor.of(DType.INT8, levels, dims), Tensor.of(scales, channels));
        }
    }
}
