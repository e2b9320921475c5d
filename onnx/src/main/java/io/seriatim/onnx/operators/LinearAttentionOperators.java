package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.node.Size;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Linear attention: each step adds the product of a key and a value to the state of its head, which queries are
 * multiplied with. The state may decay before, and the value may be reduced by what the state already gives for the
 * key (delta).
 */
public final class LinearAttentionOperators {
    private LinearAttentionOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.all("LinearAttention", node -> new Layer(node).append());
    }

    /** A node that is being translated. */
    private static final class Layer {
        private final Node node;
        private final BlockBuilder outer;
        private final Steps steps;
        private final String rule;
        private final int queryHeads;
        private final int heads;
        private final long keySize;
        private final long valueSize;
        private final double scale;
        /** Sums are computed in single precision at least. */
        private final DType computed;

        Layer(Node node) {
            this.node = node;
            this.outer = node.block();
            this.steps = new Steps(outer);
            this.computed = node.input(0).dtype() == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
            rule = node.text("update_rule", "gated_delta");
            queryHeads = node.int32("q_num_heads", 0);
            heads = node.int32("kv_num_heads", 0);
            if (heads < 1 || queryHeads < 1 || queryHeads % heads != 0) {
                throw node.error("the attribute 'q_num_heads' is a multiple of 'kv_num_heads', but they are %d and %d",
                        queryHeads, heads);
            }
            long ofQueries = size(0, queryHeads);
            long ofKeys = size(1, heads);
            if (ofQueries >= 0 && ofKeys >= 0 && ofQueries != ofKeys) {
                throw node.error("heads of queries and keys have one size, but have %d and %d", ofQueries, ofKeys);
            }
            keySize = known(ofQueries >= 0 ? ofQueries : ofKeys, 2, "queries and keys");
            valueSize = known(size(2, heads), 3, "values");
            float given = node.real("scale", 0);
            scale = given == 0 ? 1 / Math.sqrt((double) keySize) : given;
            requireOperand(4, "decay", rule.equals("gated") || rule.equals("gated_delta"));
            requireOperand(5, "beta", rule.equals("delta") || rule.equals("gated_delta"));
            if (!List.of("linear", "gated", "delta", "gated_delta").contains(rule)) {
                throw node.error("the attribute 'update_rule' is linear, gated, delta or gated_delta, but is '%s'",
                        rule);
            }
        }

        /** The size of the heads of an operand; −1 if it is open. */
        private long size(int index, int heads) {
            Ref x = node.input(index);
            if (x.rank() != 3 || x.dim(2) == 0 || (x.dim(2) > 0 && x.dim(2) % heads != 0)) {
                throw node.error("operand %d has the dimensions [batch, steps, heads · size] with %d heads, but is %s",
                        index + 1, heads, x.type());
            }
            return x.dim(2) < 0 ? -1 : x.dim(2) / heads;
        }

        /** A size that follows from the operand, or else from the state. */
        private long known(long size, int axisOfState, String what) {
            Ref state = node.maybe(3);
            long found = size < 0 && state != null && state.rank() == 4 ? state.dim(axisOfState) : size;
            if (found < 1) {
                throw node.error("needs heads of a known size, but that of %s is open: declare it in the file, or give "
                        + "it when the model is loaded", what);
            }
            return found;
        }

        private void requireOperand(int index, String name, boolean wanted) {
            if (node.has(index) != wanted) {
                throw node.error("with the update rule '%s' the operand %d (%s) is %s", rule, index + 1, name,
                        wanted ? "needed" : "not allowed");
            }
        }

        /** An operand by steps: [steps, batch, heads, size]. */
        private Ref byStep(int index, int parts, long size) {
            Ref x = steps.cast(node.input(index), computed);
            return steps.transpose(steps.reshape(x, 0, 0, parts, size), 1, 0, 2, 3);
        }

        private @Nullable Ref decay() {
            if (!node.has(4)) {
                return null;
            }
            long last = node.input(4).rank() == 3 ? node.input(4).dim(2) : -1;
            if (last != heads && last != heads * keySize) {
                throw node.error("the last dimension of operand 5 (decay) is %d or %d, but it is %s", heads,
                        heads * keySize, node.input(4).type());
            }
            return byStep(4, heads, last / heads);
        }

        private @Nullable Ref beta() {
            if (!node.has(5)) {
                return null;
            }
            long last = node.input(5).rank() == 3 ? node.input(5).dim(2) : -1;
            if (last != heads && last != 1) {
                throw node.error("the last dimension of operand 6 (beta) is %d or 1, but it is %s", heads,
                        node.input(5).type());
            }
            return byStep(5, (int) last, 1);
        }

        private Ref initial() {
            if (node.has(3)) {
                return steps.cast(node.input(3), computed);
            }
            List<Size> dims = List.of(Size.of(outer, node.input(0), 0), new Size.Known(heads),
                    new Size.Known(keySize), new Size.Known(valueSize));
            return steps.filled(Size.tensor(outer, dims), computed, 0);
        }

        List<Ref> append() {
            Ref query = byStep(0, queryHeads, keySize);
            Ref key = byStep(1, heads, keySize);
            Ref value = byStep(2, heads, valueSize);
            Ref decay = decay();
            Ref beta = beta();
            Ref length = Size.of(outer, node.input(0), 1).tensor(outer);
            Ref again = outer.declare(ArgType.dense(DType.BOOL, 1));
            outer.op("assign").in("X", outer.binary("less_than", outer.integers(DType.INT64, 0), length))
                    .to("Out", again).append();
            LoopSteps loop = new LoopSteps(node, again);
            loop.state(steps.reshape(initial(), 0, heads, keySize, valueSize));
            BlockBuilder inner = loop.inner;
            List<Ref> next = step(new Steps(inner), loop.states.getFirst(), at(loop, query), at(loop, key),
                    at(loop, value), decay == null ? null : at(loop, decay), beta == null ? null : at(loop, beta));
            loop.collect(List.of(next.getLast()));
            Ref follows = inner.binary("less_than", loop.next(), length);
            loop.pass(List.of(next.getFirst()));
            loop.end(follows);
            Ref output = steps.transpose(loop.stacked(0), 1, 0, 2);
            List<Ref> results = new ArrayList<>();
            results.add(steps.cast(output, node.input(0).dtype()));
            results.add(steps.cast(loop.states.getFirst(), node.input(node.has(3) ? 3 : 0).dtype()));
            return results;
        }

        /** The operand of a step: [batch, heads, size]. */
        private static Ref at(LoopSteps loop, Ref all) {
            return loop.inner.squeeze(
                    loop.inner.op("gather").in("X", all).in("Index", loop.count).attr("axis", 0).out("Out"), 0);
        }

        /** The next state and the output, [batch, heads · size]. */
        private List<Ref> step(Steps in, Ref state, Ref query, Ref key, Ref value, @Nullable Ref decay,
                @Nullable Ref beta) {
            Ref kept = decay == null ? state : in.mul(state, in.unsqueeze(in.unary("exp", decay), 3));
            Ref row = in.unsqueeze(value, 2);
            if (beta != null) {
                Ref known = in.matmul(in.unsqueeze(key, 2), kept, false, false);
                row = in.mul(in.unsqueeze(beta, 3), in.sub(row, known));
            }
            Ref next = in.add(kept, in.matmul(in.unsqueeze(key, 3), row, false, false));
            Ref grouped = in.reshape(query, 0, heads, queryHeads / heads, keySize);
            Ref read = in.linear(in.matmul(grouped, next, false, false), scale, 0);
            return List.of(next, in.reshape(read, 0, queryHeads * valueSize));
        }
    }
}
