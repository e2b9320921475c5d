package io.seriatim.executor.lower;

import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.BranchTypes;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.interpret.TakenBranches;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Replaces branches of a block whose conditions are constants, with what is known of the values before them. */
final class BranchReplacement {
    private final ValueTable values;
    private final @Nullable ArgType[] types;
    private final Interpreter interpreter;

    /**
     * Creates the replacement of a plan.
     *
     * @param types
     *            by value, its inferred type
     */
    BranchReplacement(ValueTable values, @Nullable ArgType[] types, Interpreter interpreter) {
        this.values = values;
        this.types = types;
        this.interpreter = interpreter;
    }

    /**
     * Returns a block whose last operations have no such branches; null if there are none.
     *
     * @param last
     *            the indexes of these operations
     * @param outer
     *            by name, the values that they read from before
     */
    @Nullable
    Block of(Block block, List<Integer> last, Map<String, Integer> outer) {
        return TakenBranches.replaced(block, last, new Outside(outer), this::computed);
    }

    /**
     * Returns whether the first one of some operations, a branch, is replaced if its condition is known, whichever it
     * is.
     *
     * @param condition
     *            one of the values before
     */
    boolean isPossible(Block block, List<Integer> last, Map<String, Integer> outer, int condition) {
        TensorSpec spec = values.spec(condition);
        if (spec == null) {
            return false;
        }
        for (Tensor assumed : outcomes(spec)) {
            BranchTypes.Outside before = new Outside(outer);
            BranchTypes.Outside known = new BranchTypes.Outside() {
                @Override
                public @Nullable ArgType type(String name) {
                    return before.type(name);
                }

                @Override
                public @Nullable Tensor constant(String name) {
                    Integer value = outer.get(name);
                    return value != null && value == condition ? assumed : before.constant(name);
                }

                @Override
                public boolean isSet(String name) {
                    return before.isSet(name);
                }
            };
            Block form = TakenBranches.replaced(block, last, known, this::computed);
            int first = last.getFirst();
            if (form == null || (form.ops().size() > first && form.ops().get(first).equals(block.ops().get(first)))) {
                return false;
            }
        }
        return true;
    }

    /** Returns false and true as tensors of a type with one truth value. */
    static List<Tensor> outcomes(TensorSpec spec) {
        return List.of(Tensor.of(spec.dtype(), new double[]{0}, spec.shape().dims()),
                Tensor.of(spec.dtype(), new double[]{1}, spec.shape().dims()));
    }

    private Map<String, Tensor> computed(Block block, int index, Map<String, ArgType> results,
            Map<String, Tensor> inputs) {
        OpDesc op = block.ops().get(index);
        Operation schema = Operations.system().find(op.type());
        boolean isSmall = results.values().stream().allMatch(type -> isSmall(type.spec().shape().size()))
                && inputs.values().stream().allMatch(input -> isSmall(input.shape().size()));
        if (schema == null || !isSmall || !Operations.system().isPure(op, block.program(), true)) {
            return Map.of();
        }
        BlockSession session = ShapeFolding.ran(interpreter, block, index, inputs);
        Map<String, Tensor> computed = new HashMap<>();
        results.keySet().forEach(name -> {
            if (session.find(name) instanceof Tensor tensor) {
                computed.put(name, tensor);
            }
        });
        return computed;
    }

    private static boolean isSmall(long elements) {
        return elements <= ShapeFolding.MOST_FOLDED;
    }

    /** What is known before the branches. */
    private final class Outside implements BranchTypes.Outside {
        private final Map<String, Integer> outer;

        Outside(Map<String, Integer> outer) {
            this.outer = outer;
        }

        @Override
        public @Nullable ArgType type(String name) {
            Integer value = outer.get(name);
            return value == null ? null : types[value];
        }

        @Override
        public @Nullable Tensor constant(String name) {
            Integer value = outer.get(name);
            return value == null ? null : values.constant(value);
        }

        @Override
        public boolean isSet(String name) {
            return outer.containsKey(name);
        }
    }
}
