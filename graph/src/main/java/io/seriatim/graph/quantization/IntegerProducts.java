package io.seriatim.graph.quantization;

import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.QuantizedScales;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Replaces products and convolutions of dequantized numbers by those of the int8 levels themselves, whose sums are
 * scaled afterwards: {@code conv2d(dequantize_linear(q), dequantize_linear(w))} becomes
 * {@code quantized_conv2d(q, w)}. That is exact in integers, whereas the original rounds each product, so that results
 * differ by rounding.
 *
 * <p>
 * An operation is replaced if its activations are levels of the whole tensor with up to 8 bits, as quantize_linear
 * makes them, and its weights are levels in a persistable variable with one scale, or one for each output channel, or,
 * in a product, other activations. Files of
 * PaddlePaddle declare such weights as float32, whatever they hold. Operations that only observed values while the
 * network was calibrated are left out. Products of levels that fake_quantize operations write, with the scales applied
 * by a fake_dequantize operation afterwards, are replaced as well.
 */
public final class IntegerProducts {
    private static final String QUANTIZE = "quantize_linear";
    private static final String DEQUANTIZE = "dequantize_linear";
    private static final int BITS = 8;

    private final Block block;
    /** Variables that a caller fetches, or that other blocks read. */
    private final Set<String> kept;
    /** The operation that writes a variable; absent if there are several. */
    private final Map<String, OpDesc> writers = new HashMap<>();
    private final Set<String> writtenOften = new HashSet<>();
    /** The int8 form of levels. */
    private final Map<String, String> bytes = new HashMap<>();

    /** Levels and their scale. */
    private record Levels(String levels, String scale, int most) {
    }

    private IntegerProducts(Block block, Collection<String> kept) {
        this.block = block;
        this.kept = new HashSet<>(kept);
        block.program().blocks().stream().filter(other -> other != block)
                .forEach(other -> other.ops().forEach(op -> this.kept.addAll(op.inputNames())));
    }

    private void index(List<OpDesc> ops) {
        writers.clear();
        writtenOften.clear();
        Set<String> read = new HashSet<>();
        for (OpDesc op : ops) {
            read.addAll(op.inputNames());
            for (String name : FakeQuantization.written(op)) {
                // What is read before it is written has had another value before, such as the one that is fed.
                if (writers.put(name, op) != null || read.contains(name)) {
                    writtenOften.add(name);
                }
            }
        }
    }

    /**
     * Replaces what can be replaced in the global block.
     *
     * @param program
     *            is not changed
     * @param fetched
     *            variables whose values a caller wants
     * @return the program itself if nothing is replaced, otherwise a changed copy
     */
    public static Program of(Program program, Collection<String> fetched) {
        if (program.global().ops().stream()
                .noneMatch(op -> op.type().equals(DEQUANTIZE) || FakeQuantization.isOfProduct(op))) {
            return program;
        }
        Program copy = program.copy();
        return new IntegerProducts(copy.global(), fetched).replace() ? copy : program;
    }

    private boolean replace() {
        index(block.ops());
        List<OpDesc> observed = withoutObservers();
        index(observed);
        List<OpDesc> ops = new ArrayList<>();
        boolean any = false;
        Set<OpDesc> replaced = new HashSet<>();
        for (OpDesc op : observed) {
            OpDesc quantized = quantized(op, ops);
            if (quantized == null) {
                quantized = scaledLater(op, ops, observed, replaced);
            }
            if (!replaced.contains(op)) {
                ops.add(quantized == null ? op : quantized);
            }
            any |= quantized != null;
        }
        if (any) {
            block.setOps(withoutUnread(ops));
        }
        return any;
    }

    /**
     * The operations; what observers would have passed on is read where it comes from. Observers may write variables
     * that other operations have written before.
     */
    private List<OpDesc> withoutObservers() {
        Map<String, String> origins = new HashMap<>();
        List<OpDesc> ops = new ArrayList<>();
        for (OpDesc op : block.ops()) {
            OpDesc renamed = op.renamed(name -> origins.getOrDefault(name, name), name -> name);
            FakeQuantization.written(op).forEach(origins::remove);
            List<String> out = renamed.output("Y");
            if (isObserver(renamed) && out.size() == 1 && isUnchanged(renamed.input("X").getFirst())
                    && !isPersistable(out.getFirst())) {
                origins.put(out.getFirst(), renamed.input("X").getFirst());
                if (!kept.contains(out.getFirst())) {
                    continue;
                }
            }
            ops.add(renamed);
        }
        return ops;
    }

    private static boolean isObserver(OpDesc op) {
        return (op.type().equals(QUANTIZE) || op.type().equals(DEQUANTIZE)) && isTest(op) && observes(op)
                && op.input("X").size() == 1;
    }

    /** Whether a variable keeps the value that it has when it is first read. */
    private boolean isUnchanged(String name) {
        return !writtenOften.contains(name) && !isPersistable(name);
    }

    /** The quantized form of an operation, before which casts are added; null if it has none. */
    private @Nullable OpDesc quantized(OpDesc op, List<OpDesc> before) {
        ProductForms.Slots slots = ProductForms.slots(op);
        if (slots == null) {
            return null;
        }
        Levels activations = levels(op.input(slots.activations()).getFirst(), -1);
        Levels weights = levels(op.input(slots.weights()).getFirst(), ProductForms.channels(op));
        if (activations == null || weights == null || !isMadeByQuantizing(activations.levels())
                || !isFloat32(op.output(slots.result()).getFirst())) {
            return null;
        }
        boolean stored = isStored(weights.levels());
        if (!stored && !(isMadeByQuantizing(weights.levels()) && slots.weights().equals("Y"))) {
            return null;
        }
        return quantized(op, slots, inBytes(activations, before),
                stored ? weights : new Levels(inBytes(weights, before).levels(), weights.scale(), weights.most()),
                op.output(slots.result()).getFirst()).with("divisor", (float) (activations.most() * weights.most()));
    }

    private static OpDesc quantized(OpDesc op, ProductForms.Slots slots, Levels activations, Levels weights,
            String result) {
        OpDesc made = OpDesc.of(QuantizedScales.PREFIX + op.type())
                .in(slots.activations(), activations.levels())
                .in(slots.weights(), weights.levels())
                .in(slots.activations() + "Scale", activations.scale())
                .in(slots.weights() + "Scale", weights.scale())
                .out(slots.result(), result).build();
        Set<String> known = new HashSet<>();
        Operations.system().get(made.type()).attributes().forEach(each -> known.add(each.name()));
        for (Attribute.Named each : op.attributes()) {
            if (known.contains(each.name())) {
                made = made.with(each.name(), each.value());
            }
        }
        return made.builtWith(op);
    }

    /**
     * The quantized form of a product of levels whose sums a later operation multiplies with the scales, as PaddleSlim
     * wrote them first; that operation is replaced too. Null if there is none.
     */
    private @Nullable OpDesc scaledLater(OpDesc op, List<OpDesc> before, List<OpDesc> all, Set<OpDesc> replaced) {
        ProductForms.Slots slots = ProductForms.slots(op);
        if (slots == null) {
            return null;
        }
        String levels = op.input(slots.activations()).getFirst();
        String weights = op.input(slots.weights()).getFirst();
        String sums = op.output(slots.result()).getFirst();
        OpDesc quantize = onlyWriter(levels);
        if (quantize == null || !FakeQuantization.quantizes(quantize) || kept.contains(sums)
                || !Objects.equals(op, onlyWriter(sums)) || !isStored(weights)) {
            return null;
        }
        List<OpDesc> readers = all.stream().filter(each -> each.inputNames().contains(sums)).toList();
        if (readers.size() != 1) {
            return null;
        }
        FakeQuantization.Scales scales = FakeQuantization.scales(quantize, op, readers.getFirst(), block.get(sums));
        String result = scales == null ? sums : readers.getFirst().output("Out").getFirst();
        if (scales == null || !isUnchanged(quantize.input("X").getFirst())
                || !isFloat32(quantize.input("X").getFirst()) || !Objects.equals(readers.getFirst(), onlyWriter(result))
                || !isFloat32(result) || !isConstant(scales.activations())
                || (scales.weights() != null && !isConstant(scales.weights()))) {
            return null;
        }
        replaced.add(readers.getFirst());
        String one = scales.weights() == null ? one(before, op) : scales.weights();
        return quantized(op, slots, inBytes(new Levels(levels, scales.activations(), 1), before),
                new Levels(weights, one, 1), result).with("divisor", scales.divisor());
    }

    private boolean isConstant(String scale) {
        return isFloat32(scale) && onlyWriter(scale) == null && !writtenOften.contains(scale);
    }

    /** A variable that holds the number 1. */
    private String one(List<OpDesc> before, OpDesc like) {
        return bytes.computeIfAbsent("", _ -> {
            String name = Names.free(block, "one@INT8");
            block.put(VarDesc.of(name, VarType.dense(DType.FLOAT32, 1)));
            before.add(OpDesc.of("fill_constant").out("Out", name).attr("shape", new long[]{1}).attr("value", 1f)
                    .attr("dtype", DataTypes.number(DType.FLOAT32)).build().builtWith(like));
            return name;
        });
    }

    /**
     * The levels of a dequantized variable, null if it is none.
     *
     * @param axis
     *            the only axis that may have several scales; −1 for none
     */
    private @Nullable Levels levels(String dequantized, int axis) {
        OpDesc op = onlyWriter(dequantized);
        if (op == null || !op.type().equals(DEQUANTIZE) || !isPlain(op) || op.input("X").size() != 1
                || op.input("Scale").size() != 1) {
            return null;
        }
        int own = number(op, "quant_axis", 0);
        int bits = number(op, "bit_length", BITS);
        String scale = op.input("Scale").getFirst();
        boolean single = own == -1 || (axis >= 0 && hasOneNumber(scale));
        if (bits < 2 || bits > BITS || !(single || own == axis) || onlyWriter(scale) != null || !isFloat32(scale)) {
            return null;
        }
        return new Levels(op.input("X").getFirst(), scale, (1 << (bits - 1)) - 1);
    }

    private @Nullable OpDesc onlyWriter(String name) {
        return writtenOften.contains(name) ? null : writers.get(name);
    }

    /** Whether an operation of quantization only computes, as in inference. */
    private static boolean isPlain(OpDesc op) {
        return isTest(op) && !observes(op);
    }

    private static boolean isTest(OpDesc op) {
        return !(op.attribute("is_test") instanceof Attribute.Bool(boolean test)) || test;
    }

    private static boolean observes(OpDesc op) {
        return op.attribute("only_observer") instanceof Attribute.Bool(boolean observes) && observes;
    }

    private boolean isMadeByQuantizing(String levels) {
        OpDesc op = onlyWriter(levels);
        return op != null && op.type().equals(QUANTIZE) && isPlain(op) && number(op, "quant_axis", 0) == -1
                && number(op, "bit_length", BITS) <= BITS && op.input("X").size() == 1
                && isUnchanged(op.input("X").getFirst()) && isFloat32(op.input("X").getFirst());
    }

    private boolean isStored(String weights) {
        VarDesc desc = block.find(weights);
        return desc != null && desc.isPersistable() && !writers.containsKey(weights);
    }

    private boolean isFloat32(String name) {
        VarDesc desc = block.find(name);
        return desc != null && has(desc, DType.FLOAT32);
    }

    private static boolean has(VarDesc desc, DType dtype) {
        return desc.type() instanceof VarType.Dense dense && dense.tensor().dtype() == dtype;
    }

    private boolean hasOneNumber(String name) {
        VarDesc desc = block.find(name);
        return desc != null && desc.type() instanceof VarType.Dense dense
                && dense.tensor().dims().stream().allMatch(dim -> dim == 1);
    }

    private static int number(OpDesc op, String name, int byDefault) {
        return switch (op.attribute(name)) {
            case Attribute.Int(int value) -> value;
            case null, default -> byDefault;
        };
    }

    /** The name of the int8 form of levels, which quantize_linear writes as floating-point numbers. */
    private Levels inBytes(Levels of, List<OpDesc> before) {
        String levels = of.levels();
        return new Levels(bytes.computeIfAbsent(levels, _ -> {
            VarDesc desc = block.get(levels);
            String name = levels + "@INT8";
            VarType.TensorType type = new VarType.TensorType(DataTypes.number(DType.INT8), desc.tensor().dims());
            block.put(VarDesc.of(name, new VarType.Dense(type, 0)));
            OpDesc quantize = Objects.requireNonNull(onlyWriter(levels));
            boolean fake = !quantize.type().equals(QUANTIZE);
            before.add(OpDesc.of("quantize_to_int8").in("X", quantize.input("X"))
                    .in("Scale", fake ? quantize.input("InScale") : quantize.input("Scale")).out("Y", name)
                    .attr("bit_length", number(quantize, "bit_length", BITS))
                    .attr("round_type", number(quantize, "round_type", fake ? 1 : 0)).build().builtWith(quantize));
            return name;
        }), of.scale(), of.most());
    }

    /** Leaves out operations of quantization whose results nothing reads any more. */
    private List<OpDesc> withoutUnread(List<OpDesc> ops) {
        Set<String> read = new HashSet<>(kept);
        List<OpDesc> left = new ArrayList<>();
        for (OpDesc op : ops.reversed()) {
            boolean quantization = op.type().equals(DEQUANTIZE) || op.type().equals(QUANTIZE)
                    || FakeQuantization.quantizes(op);
            if (!quantization || FakeQuantization.written(op).stream().anyMatch(name -> read.contains(name)
                    || isPersistable(name))) {
                left.add(op);
                read.addAll(op.inputNames());
            }
        }
        return left.reversed();
    }

    private boolean isPersistable(String name) {
        VarDesc desc = block.find(name);
        return desc != null && desc.isPersistable();
    }
}
