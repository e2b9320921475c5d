package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Computations with post-ops are written as the plain computation and steps that follow. */
final class Epilogues {
    private Epilogues() {
    }

    private static List<PostOp> postOps(Computation computation) {
        return switch (computation) {
            case MatMul product -> product.postOps();
            case Convolution convolution -> convolution.postOps();
            case Binary binary -> binary.postOps();
            default -> List.of();
        };
    }

    static boolean isPlain(Computation computation) {
        return postOps(computation).isEmpty();
    }

    static List<@Nullable Operand> expand(Computation computation, Lowering l, List<@Nullable Operand> inputs) {
        Computation plain = switch (computation) {
            case MatMul(var transposeX, var transposeY, var bias, var _) ->
                new MatMul(transposeX, transposeY, bias, List.of());
            case Convolution(var window, var groups, var bias, var _) ->
                new Convolution(window, groups, bias, List.of());
            case Binary(var function, var _) -> Binary.of(function);
            default -> throw new IllegalStateException(computation + " has no post-ops");
        };
        List<PostOp> postOps = postOps(computation);
        int combined = (int) postOps.stream().filter(PostOp.Combine.class::isInstance).count();
        int next = inputs.size() - combined;
        Operand result = l.run(plain, inputs.subList(0, next).toArray(Operand[]::new));
        for (PostOp postOp : postOps) {
            result = switch (postOp) {
                case PostOp.Apply(var function, var alpha, var beta) ->
                    l.run(new Unary(function, alpha, beta), result);
                case PostOp.Combine(var function) ->
                    l.binary(function, result, Objects.requireNonNull(inputs.get(next++), "a post-op's operand"));
                case PostOp.Accumulate _ -> throw new IllegalArgumentException(
                        "A step '" + computation.operation() + "' that adds to its output has no gradient");
            };
        }
        return List.of(result);
    }
}
