package io.seriatim.graph.format.pir;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes branches and loops. Variables outside of a block that it writes are results of the operation that runs it;
 * lists of tensors are changed where they are.
 */
final class PirControlWriter {
    private final PirWriter writer;

    PirControlWriter(PirWriter writer) {
        this.writer = writer;
    }

    /** Writes an operation; false if it is none of these. */
    boolean write(PirBuilder builder, Block block, OpDesc op) {
        switch (op.type()) {
            case "conditional_block" -> conditional(builder, block, op);
            case "while" -> loop(builder, block, op);
            case "select_input" -> select(builder, block, op);
            default -> {
                return false;
            }
        }
        return true;
    }

    private Block body(OpDesc op) {
        if (!(op.attribute("sub_block") instanceof Attribute.BlockRef(int index))) {
            throw new IllegalArgumentException("Operation " + op.type() + " has no block: " + op);
        }
        return writer.program().block(index);
    }

    /** The tensors outside that a block writes. Lists that are not there yet are made first. */
    private static List<String> written(PirBuilder builder, Block block, OpDesc op, Block body) {
        List<String> names = new ArrayList<>();
        for (String name : op.output("Out")) {
            if (block.find(name) == null || body.var(name) != null || names.contains(name)) {
                continue;
            }
            VarType type = PirWriter.type(block, name);
            if (type instanceof VarType.TensorArray) {
                if (!builder.has(name)) {
                    builder.bind(name, PirSpecialWriter.createArray(builder, type), type);
                }
            } else if (type instanceof VarType.Dense) {
                names.add(name);
            }
        }
        return names;
    }

    /** The value of a variable, or any value of its type if it has none yet. */
    private static long valueOr(PirBuilder builder, String name, VarType type) {
        if (builder.has(name)) {
            return builder.value(name);
        }
        if (type.tensorType() == null) {
            throw new IllegalArgumentException("Variable '" + name + "' has no value before a block that writes it");
        }
        return zero(builder, type.tensorType());
    }

    private static long zero(PirBuilder builder, VarType.TensorType type) {
        return builder.full(0L, type.dtype(), type.dims().stream().mapToLong(dim -> dim < 0 ? 1 : dim).toArray());
    }

    private static void end(PirBuilder builder, List<Long> values) {
        builder.add(new PirOp(PirReader.YIELD, List.of(), values, List.of(), List.of()));
    }

    private void conditional(PirBuilder builder, Block block, OpDesc op) {
        Block body = body(op);
        List<String> names = written(builder, block, op, body);
        PirBuilder taken = builder.inside();
        writer.block(taken, body);
        end(taken, names.stream().map(name -> valueOr(taken, name, PirWriter.type(block, name))).toList());
        PirBuilder other = builder.inside();
        end(other, names.stream().map(name -> valueOr(other, name, PirWriter.type(block, name))).toList());
        branch(builder, block, writer.value(builder, op.input("Cond").getFirst()), names, taken, other);
    }

    private static void branch(PirBuilder builder, Block block, long condition, List<String> names, PirBuilder taken,
            PirBuilder other) {
        List<PirOp.Result> results = new ArrayList<>();
        for (String name : names) {
            results.add(PirOp.Result.of(builder.number(), PirWriter.type(block, name)));
        }
        builder.add(new PirOp("1.if", List.of(), List.of(condition), results,
                List.of(new PirOp.Region(List.of(), taken.ops()), new PirOp.Region(List.of(), other.ops()))));
        for (int i = 0; i < names.size(); i++) {
            builder.bind(names.get(i), results.get(i).number(), PirWriter.type(block, names.get(i)));
        }
    }

    /** The choice between two values is a branch that gives one of them. */
    private void select(PirBuilder builder, Block block, OpDesc op) {
        List<String> choices = op.input("X");
        if (choices.size() != 2) {
            writer.refuse(block, op, "a choice between " + choices.size() + " variables");
            return;
        }
        String mask = op.input("Mask").getFirst();
        VarType.TensorType type = PirWriter.type(block, mask).tensorType();
        long condition = writer.value(builder, mask);
        if (type != null) {
            condition = builder.cast(condition, type, DType.BOOL);
        }
        PirBuilder taken = builder.inside();
        end(taken, List.of(writer.value(taken, choices.get(1))));
        PirBuilder other = builder.inside();
        end(other, List.of(writer.value(other, choices.getFirst())));
        branch(builder, block, condition, op.output("Out"), taken, other);
    }

    /**
     * Paddle wants one type of a loop's value before and after a step, even of a value that a step overwrites before it
     * reads it, which is one element of any type.
     */
    private static long sameType(PirBuilder builder, long value, VarType from, VarType to) {
        VarType.TensorType old = from.tensorType();
        VarType.TensorType now = to.tensorType();
        if (old == null || now == null) {
            return value;
        }
        long cast = builder.cast(value, old, now.dtype());
        if (old.dims().size() == now.dims().size() || !old.dims().stream().allMatch(dim -> dim == 1)
                || !now.dims().stream().allMatch(dim -> dim == 1)) {
            return cast;
        }
        return builder.add("1.reshape", List.of(), List.of(cast, builder.ints(now.dims())), to);
    }

    private void loop(PirBuilder builder, Block block, OpDesc op) {
        Block body = body(op);
        String condition = op.input("Condition").getFirst();
        List<String> names = written(builder, block, op, body);
        names.remove(condition);
        List<Long> operands = new ArrayList<>();
        operands.add(builder.value(condition));
        names.forEach(name -> operands.add(valueOr(builder, name, PirWriter.type(block, name))));
        PirBuilder inside = builder.inside();
        List<Long> numbers = new ArrayList<>();
        List<VarType> before = new ArrayList<>();
        for (String name : names) {
            VarType type = PirWriter.type(block, name);
            before.add(type);
            numbers.add(inside.argument());
            inside.bind(name, numbers.getLast(), type);
        }
        writer.block(inside, body);
        List<PirOp.Result> arguments = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            VarType type = PirWriter.type(block, names.get(i));
            arguments.add(PirOp.Result.of(numbers.get(i), type));
            operands.set(i + 1, sameType(builder, operands.get(i + 1), before.get(i), type));
        }
        List<Long> next = new ArrayList<>();
        next.add(inside.value(condition));
        names.forEach(name -> next.add(inside.value(name)));
        end(inside, next);
        List<PirOp.Result> results = new ArrayList<>();
        for (String name : names) {
            results.add(PirOp.Result.of(builder.number(), PirWriter.type(block, name)));
        }
        builder.add(new PirOp("1.while", List.of(), operands, results,
                List.of(new PirOp.Region(arguments, inside.ops()))));
        for (int i = 0; i < names.size(); i++) {
            builder.bind(names.get(i), results.get(i).number(), PirWriter.type(block, names.get(i)));
        }
        if (block.var(condition) == null || writer.isWanted(condition, op)) {
            // The condition is no result of the operation. After the loop it is false.
            VarType type = PirWriter.type(block, condition);
            builder.bind(condition, zero(builder, block.get(condition).tensor()), type);
        }
    }
}
