package io.seriatim.graph.program;

import io.seriatim.graph.util.Printable;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Programs for readers: a line for each variable and operation. Attributes that every operation has, and the place in
 * Python where it was made, are left out unless they carry information.
 */
final class ProgramText {
    private static final Map<String, Attribute> USUAL = Map.of(Roles.DEVICE, Attribute.of(""), Roles.SCOPE,
            Attribute.of("/"),
            Roles.VARIABLES,
            Attribute.of(new String[0]), Roles.QUANTIZED, Attribute.of(false), Roles.ATTRIBUTE,
            Attribute.of(Roles.FORWARD));

    private ProgramText() {
    }

    static String of(Program program) {
        return program.blocks().stream().map(ProgramText::of).collect(Collectors.joining("\n"));
    }

    static String of(Block block) {
        StringBuilder text = new StringBuilder("block ").append(block.index());
        if (block.parent() != Block.NONE) {
            text.append(" in block ").append(block.parent());
        }
        if (block.forward() != Block.NONE) {
            text.append(", gradient of block ").append(block.forward());
        }
        text.append('\n');
        block.vars().forEach(desc -> text.append("  ").append(line(desc)).append('\n'));
        block.ops().forEach(op -> text.append("  ").append(line(op)).append('\n'));
        return text.toString();
    }

    static String line(VarDesc desc) {
        return "var " + Printable.of(desc.name()) + " : " + type(desc.type()) + (desc.isTrained() ? " parameter" : "")
                + (desc.isPersistable() ? " persistable" : "") + (desc.stopsGradient() ? " stop_gradient" : "");
    }

    static String line(OpDesc op) {
        List<Attribute.Named> attributes = op.attributes().stream().filter(each -> !isUsual(each)).toList();
        return slots(op.outputs()) + " = " + Printable.of(op.type()) + "(" + slots(op.inputs()) + ")"
                + (attributes.isEmpty()
                        ? ""
                        : " " + attributes.stream()
                                .map(each -> Printable.of(each.name()) + "=" + Attributes.text(each.value()))
                                .collect(Collectors.joining(", ", "{", "}")));
    }

    private static boolean isUsual(Attribute.Named attribute) {
        return attribute.name().equals(Roles.CALLSTACK) || attribute.value().equals(USUAL.get(attribute.name()));
    }

    private static String slots(Map<String, List<String>> slots) {
        return slots.entrySet().stream().filter(slot -> !slot.getValue().isEmpty())
                .map(slot -> Printable.of(slot.getKey()) + "="
                        + Printable.of(slot.getValue().size() == 1
                                ? slot.getValue().getFirst()
                                : String.valueOf(slot.getValue())))
                .collect(Collectors.joining(", "));
    }

    static String type(VarType type) {
        return switch (type) {
            case VarType.Dense(VarType.TensorType tensor, Integer lodLevel) ->
                tensor + (lodLevel != null && lodLevel > 0 ? " lod_level=" + lodLevel : "");
            case VarType.Rows(VarType.TensorType tensor, VarType.Dense _) -> "rows of " + tensor;
            case VarType.TensorArray(VarType.TensorType tensor, Integer _) -> "array of " + tensor;
            case VarType.Reader(List<VarType.Dense> tensors) ->
                "reader of " + tensors.stream().map(ProgramText::type).collect(Collectors.joining(", "));
            case VarType.Other(int number) -> other(number);
        };
    }

    private static String other(int number) {
        return switch (number) {
            case VarType.FEED_MINIBATCH -> "feed";
            case VarType.FETCH_LIST -> "fetch";
            case VarType.STEP_SCOPES -> "step scopes";
            case VarType.RAW -> "raw";
            default -> "kind " + number;
        };
    }
}
