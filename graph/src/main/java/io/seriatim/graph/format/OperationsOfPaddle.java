package io.seriatim.graph.format;

import io.seriatim.graph.dialect.TargetSchema;
import io.seriatim.graph.dialect.Uses;
import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.util.Printable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The operations of PaddlePaddle 2.6.2: a program of others would be refused by it, or compute something else. */
final class OperationsOfPaddle {
    private static final String GRADIENT = "_grad";
    private static final TargetSchema SCHEMA = TargetSchema.paddle2();
    /** Operations that PaddlePaddle 2.6.2 declares, while its program for inference stops or dies at their kernels. */
    private static final Set<String> WITHOUT_KERNEL = Set.of("nanmedian", "rrelu");

    private OperationsOfPaddle() {
    }

    /**
     * A program without the attributes that PaddlePaddle does not know and that have the value which they have without
     * being written.
     *
     * @throws IllegalArgumentException
     *             if PaddlePaddle has no counterpart of operations; the message names each with the first output
     */
    static Program expressed(Program program) {
        Program expressed = program.copy();
        Map<String, String> outputs = new LinkedHashMap<>();
        for (Block block : expressed.blocks()) {
            for (int i = 0; i < block.ops().size(); i++) {
                OpDesc op = expressed(block.ops().get(i));
                block.set(i, op);
                for (String missing : missing(block, op)) {
                    outputs.putIfAbsent(missing, op.outputNames().isEmpty() ? "" : op.outputNames().getFirst());
                }
            }
        }
        if (!outputs.isEmpty()) {
            List<String> named = new ArrayList<>();
            outputs.forEach((missing, output) -> named.add(Printable.of(missing + " (of '" + output + "')")));
            throw new IllegalArgumentException("PaddlePaddle 2 has no counterpart of " + (named.size() == 1
                    ? "an operation"
                    : named.size() + " kinds of operations") + " of the model: " + String.join(", ", named)
                    + ". Other formats may have counterparts: try .onnx or .json");
        }
        return expressed;
    }

    private static OpDesc expressed(OpDesc op) {
        Operation own = Operations.system().find(op.type());
        if (own == null || !SCHEMA.isDescribed(op.type())) {
            return op;
        }
        List<Attribute.Named> kept = op.attributes().stream()
                .filter(each -> SCHEMA.hasAttribute(op.type(), each.name())
                        || !each.value().equals(byDefault(own, each.name())))
                .toList();
        return kept.size() == op.attributes().size()
                ? op
                : new OpDesc(op.type(), op.inputs(), op.outputs(), kept, op.target()).with(op.original());
    }

    private static @Nullable Attribute byDefault(Operation schema, String attribute) {
        AttributeSpec spec = schema.attribute(attribute);
        return spec == null ? null : spec.byDefault();
    }

    /** The parts of an operation that PaddlePaddle does not have; gradients have those of their operation. */
    private static List<String> missing(Block block, OpDesc op) {
        String type = op.type();
        while (type.endsWith(GRADIENT) && !SCHEMA.has(type)) {
            type = type.substring(0, type.length() - GRADIENT.length());
        }
        boolean isGradient = SCHEMA.has(type) && !type.equals(op.type());
        if (WITHOUT_KERNEL.contains(op.type())) {
            return List.of("'" + op.type() + "', whose kernel does not run in programs,");
        }
        if (op.type().equals("stft") && op.attribute("onesided") instanceof Attribute.Bool(boolean half) && !half) {
            return List.of("'stft' with onesided = false, whose kernel does not run in programs,");
        }
        return isGradient ? List.of() : SCHEMA.problems(Uses.of(SCHEMA, block, op));
    }
}
