package io.seriatim.executor;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Generates random programs, and changes them so that order and places matter. Their feed is x: float32[4, 6]. */
public final class RandomNetworks {
    private RandomNetworks() {
    }

    /** Returns a network of elementwise operations, products, layers, dropout and views. Half of the networks train. */
    public static Network of(long seed, int operations) {
        Random random = new Random(seed);
        return Network.define(seed + 1, g -> {
            List<Value> values = new ArrayList<>();
            values.add(g.data("x", DType.FLOAT32, 4, 6));
            for (int i = 0; i < operations; i++) {
                values.add(next(g, random, values));
            }
            Value loss = g.addAll(values.subList(values.size() - 4, values.size()).toArray(Value[]::new)).mean();
            if (random.nextBoolean()) {
                g.minimize(loss.plus(g.linear(values.getFirst(), 1).mean()), Sgd.of(0.1));
            }
            return Outputs.of("loss", loss, "last", values.getLast(), "any", values.get(random.nextInt(values.size())));
        });
    }

    private static Value next(Graph g, Random random, List<Value> values) {
        Value a = values.get(random.nextInt(values.size()));
        Value b = values.get(random.nextInt(values.size()));
        return switch (random.nextInt(11)) {
            case 0 -> a.plus(b);
            case 1 -> a.times(b).tanh();
            case 2 -> a.relu();
            case 3 -> a.minus(b.times(0.5));
            case 4 -> g.linear(a, 6);
            case 5 -> a.softmax(-1);
            case 6 -> g.concat(1, a.slice(1, 0, 3), b.slice(1, 3, 6));
            case 7 -> a.transpose(1, 0).flip(0).transpose(1, 0);
            case 8 -> g.dropout(a, 0.3);
            case 9 -> a.matmul(b, true, false).slice(0, 0, 4);
            default -> a.max(b);
        };
    }

    /**
     * Returns a copy of a program with additional operations in its global block that overwrite variables: in place,
     * from another variable, or from themselves.
     */
    public static Program overwritten(Program program, long seed, int count) {
        Random random = new Random(seed);
        Program copy = program.copy();
        Block block = copy.global();
        for (int i = 0; i < count; i++) {
            int at = 1 + random.nextInt(block.ops().size());
            List<String> known = known(block, at);
            if (!known.isEmpty()) {
                String to = known.get(random.nextInt(known.size()));
                block.add(at, overwriting(block, random, known, to));
            }
        }
        return copy;
    }

    private static OpDesc overwriting(Block block, Random random, List<String> known, String to) {
        List<String> alike = known.stream().filter(name -> Arrays.equals(dims(block, name), dims(block, to))).toList();
        String from = alike.get(random.nextInt(alike.size()));
        int kind = random.nextInt(6);
        // In place, or a copy of another variable with a changed row.
        String other = kind == 4 ? to : from;
        return switch (kind) {
            case 4, 5 -> OpDesc.of("set_value").in("Input", other).out("Out", to).attr("axes", new long[]{0})
                    .attr("starts", new long[]{0})
                    .attr("ends", new long[]{1}).attr("steps", new long[]{1}).attr("decrease_axes", new long[0])
                    .attr("none_axes", new long[0])
                    .attr("shape", new long[]{1}).attr("dtype", 5).attr("fp32_values", new float[]{random.nextFloat()})
                    .build();
            case 0 -> OpDesc.of("assign").in("X", from).out("Out", to).build();
            case 1 ->
                OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", 0.75f).attr("bias", 0.25f)
                        .attr("bias_after_scale", true)
                        .build();
            case 2 -> OpDesc.of("elementwise_add").in("X", to).in("Y", from).out("Out", to).attr("axis", -1).build();
            default -> OpDesc.of("tanh").in("X", to).out("Out", to).build();
        };
    }

    /** Returns the dense float32 variables that earlier operations access. */
    private static List<String> known(Block block, int before) {
        return block.ops().subList(0, before).stream()
                .flatMap(op -> Stream.concat(op.inputNames().stream(), op.outputNames().stream()))
                .distinct().filter(name -> isMatrix(block.var(name))).toList();
    }

    private static boolean isMatrix(@Nullable VarDesc desc) {
        return desc != null && desc.type() instanceof VarType.Dense && desc.tensor().dtype() == DType.FLOAT32
                && desc.tensor().shape().length == 2
                && Arrays.stream(desc.tensor().shape()).allMatch(dim -> dim > 0);
    }

    private static long[] dims(Block block, String name) {
        return block.get(name).tensor().shape();
    }

    /** Returns a copy of a program whose operations, including those of nested blocks, are at random places. */
    public static Program placed(Program program, long seed, String... places) {
        Random random = new Random(seed);
        Program copy = program.copy();
        for (Block block : copy.blocks()) {
            for (int i = 0; i < block.ops().size(); i++) {
                block.set(i, block.ops().get(i).with("op_device", places[random.nextInt(places.length)]));
            }
        }
        return copy;
    }
}
