package io.seriatim.benchmarks.train;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Counts the floating-point operations of a program's products and convolutions, including the backward part. Other
 * operations are negligible.
 */
final class Arithmetic {
    private static final String GRADIENT = "_grad";

    private Arithmetic() {
    }

    /** Returns the floating-point operations of a run of a program whose shapes are all known. */
    static long of(Program program) {
        Block block = program.global();
        return block.ops().stream().mapToLong(op -> of(block, op)).sum();
    }

    private static long of(Block block, OpDesc op) {
        boolean backward = op.type().endsWith(GRADIENT);
        String type = backward ? op.type().substring(0, op.type().length() - GRADIENT.length()) : op.type();
        List<String> operands = switch (type) {
            case "mul", "matmul", "matmul_v2" -> List.of("X", "Y");
            case "conv2d", "depthwise_conv2d" -> List.of("Input", "Filter");
            default -> List.of();
        };
        if (operands.isEmpty()) {
            return 0;
        }
        String result = operands.contains("X") ? "Out" : "Output";
        String name = backward ? op.input(result + "@GRAD").getFirst() : op.output(result).getFirst();
        long products = Math.multiplyExact(size(dims(block, name)), depth(block, op, operands));
        long times = backward ? operands.stream().filter(operand -> isWanted(op, operand + "@GRAD")).count() : 1;
        return 2 * products * times;
    }

    private static boolean isWanted(OpDesc op, String slot) {
        return op.output(slot).stream().anyMatch(name -> !name.toUpperCase(Locale.ROOT).contains("@EMPTY@"));
    }

    /** Returns the number of products that are summed for each element of the result. */
    private static long depth(Block block, OpDesc op, List<String> operands) {
        long[] second = dims(block, op.input(operands.getLast()).getFirst());
        if (operands.contains("Filter")) {
            return size(Arrays.copyOfRange(second, 1, second.length));
        }
        boolean transposed = op.attribute("trans_y") instanceof Attribute.Bool(boolean set) && set;
        return second[second.length - (transposed ? 1 : 2)];
    }

    private static long[] dims(Block block, String name) {
        return block.get(name).tensor().shape();
    }

    private static long size(long... dims) {
        return Arrays.stream(dims).reduce(1, Math::multiplyExact);
    }
}
