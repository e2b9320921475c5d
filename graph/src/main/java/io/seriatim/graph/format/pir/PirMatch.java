package io.seriatim.graph.format.pir;

import io.seriatim.graph.format.pir.PirOperation.AttributeOperand;
import io.seriatim.graph.format.pir.PirOperation.SlotOperand;
import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Attribute.ScalarNumber;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Whether an operation can be written as one of PIR. */
final class PirMatch {
    /** Attributes without influence on the results of an operation for inference. */
    private static final Set<String> WITHOUT_INFLUENCE = Set.of("is_test", "in_dtype", "use_cudnn", "use_mkldnn",
            "use_quantizer", "mkldnn_data_type", "force_cpu", "place_type", "str_value", "is_distributed",
            "remote_prefetch", "reduce_all", "dtype", "out_dtype", "seed", "fix_seed", "trainable_statistics",
            "infer_flags");

    private PirMatch() {
    }

    /** Why an operation cannot be written so; null if it can. */
    static @Nullable String refusal(PirOperation as, OpDesc op, Operation schema) {
        Set<String> slots = new HashSet<>();
        Set<String> attributes = new HashSet<>(as.fixed().keySet());
        for (PirOperation.Operand operand : as.operands()) {
            switch (operand) {
                case SlotOperand(String slot, boolean _) -> {
                    slots.add(slot);
                    if (op.input(slot).isEmpty() && !isOptional(schema, slot)) {
                        return as.name() + " needs " + slot;
                    }
                    // A tensor that takes the place of an attribute decides between two operations.
                    if (op.input(slot).isEmpty() && as.name().contains("_with_tensor")) {
                        return as.name() + " needs " + slot;
                    }
                }
                case AttributeOperand(String attribute, String _, String tensor, String tensors) -> {
                    if (tensor != null) {
                        slots.add(tensor);
                    }
                    if (tensors != null) {
                        slots.add(tensors);
                    }
                    if (attribute != null) {
                        attributes.add(attribute);
                    }
                }
                default -> {
                    // Nothing is written there.
                }
            }
        }
        for (PirOperation.Parameter parameter : as.parameters()) {
            if (parameter.attribute() != null) {
                attributes.add(parameter.attribute());
            }
        }
        for (Map.Entry<String, List<String>> input : op.inputs().entrySet()) {
            if (!input.getValue().isEmpty() && !slots.contains(input.getKey())) {
                return as.name() + " has no " + input.getKey();
            }
        }
        for (Map.Entry<String, String> fixed : as.fixed().entrySet()) {
            Object value = value(op, fixed.getKey(), schema);
            if (value == null || !PirLiterals.matches(fixed.getValue(), value)) {
                return as.name() + " has " + fixed.getKey() + " = " + fixed.getValue();
            }
        }
        return attributes(as, op, schema, attributes);
    }

    private static @Nullable String attributes(PirOperation as, OpDesc op, Operation schema, Set<String> known) {
        for (Attribute.Named given : op.attributes()) {
            AttributeSpec spec = schema.attribute(given.name());
            if (spec == null || known.contains(given.name()) || WITHOUT_INFLUENCE.contains(given.name())) {
                continue;
            }
            Attribute byDefault = spec.byDefault();
            if (byDefault == null || !equal(given.value(), byDefault)) {
                return as.name() + " has no attribute " + given.name() + ", which is " + given.value();
            }
        }
        return null;
    }

    private static boolean equal(Attribute given, Attribute byDefault) {
        Object a = plain(given);
        Object b = plain(byDefault);
        return a.equals(b) || (a instanceof Number x && b instanceof Number y && x.floatValue() == y.floatValue());
    }

    private static boolean isOptional(Operation schema, String name) {
        for (Slot slot : schema.inputs()) {
            if (slot.name().equals(name)) {
                return slot.optional() || slot.list();
            }
        }
        return true;
    }

    /** The value of an attribute or its default, as {@link PirAttributes#read} has values; null if there is none. */
    static @Nullable Object value(OpDesc op, String name, Operation schema) {
        Attribute attribute = PirWriter.attribute(op, name, schema);
        return attribute == null ? null : plain(attribute);
    }

    static Object plain(Attribute attribute) {
        return switch (attribute) {
            case Attribute.Int(int value) -> (long) value;
            case Attribute.Int64(long value) -> value;
            case Attribute.Real(float value) -> (double) value;
            case Attribute.Float64(double value) -> value;
            case Attribute.Bool(boolean value) -> value;
            case Attribute.Text(String value) -> value;
            case Attribute.Scalar(ScalarNumber value) -> plain(value);
            case Attribute.Ints(List<Integer> value) -> list(value);
            case Attribute.Int64s(List<Long> value) -> list(value);
            case Attribute.Reals(List<Float> value) -> list(value);
            case Attribute.Float64s(List<Double> value) -> list(value);
            case Attribute.Bools(List<Boolean> value) -> list(value);
            case Attribute.Texts(List<String> value) -> list(value);
            case Attribute.Scalars(List<ScalarNumber> value) -> value.stream().map(PirMatch::plain).toList();
            case Attribute.BlockRef _,Attribute.BlockRefs _,Attribute.VarRef _,Attribute.VarRefs _ ->
                throw new IllegalArgumentException("PIR has no counterpart of the attribute " + attribute);
        };
    }

    private static Object plain(ScalarNumber number) {
        return switch (number) {
            case ScalarNumber.OfBool(boolean value) -> value;
            case ScalarNumber.OfLong(long value) -> value;
            case ScalarNumber.OfDouble(double value) -> value;
            case ScalarNumber.OfComplex complex ->
                throw new IllegalArgumentException("PIR's attributes have no complex number " + complex);
        };
    }

    private static List<Object> list(List<?> values) {
        List<Object> list = new ArrayList<>(values.size());
        for (Object value : values) {
            list.add(value instanceof Integer number
                    ? (Object) number.longValue()
                    : value instanceof Float number ? (Object) number.doubleValue() : value);
        }
        return list;
    }
}
