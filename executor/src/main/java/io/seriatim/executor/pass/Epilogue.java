package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Fuses operations that follow a matrix product or a convolution into it as an epilogue (post-ops), if the fused kernel
 * has the same provider as the original one, so that its sums are the same.
 */
final class Epilogue implements Fusion.Rule {
    static final int MOST_POST_OPS = 4;
    private static final Set<Binary.Function> COMBINED = EnumSet.of(Binary.Function.ADD, Binary.Function.MULTIPLY);

    private final PreparedKernels kernels;
    private final boolean mayLoseNaN;

    Epilogue(PreparedKernels kernels, boolean mayLoseNaN) {
        this.kernels = kernels;
        this.mayLoseNaN = mayLoseNaN;
    }

    @Override
    public @Nullable Stage joined(Stage first, Stage second, int input) {
        List<PostOp> done = postOps(first.computation());
        Arg out = second.onlyOutput();
        Arg result = first.outputs().getFirst();
        if (done == null || out == null || result == null || done.size() == MOST_POST_OPS || !out.isDense()
                || !out.spec().equals(result.spec())) {
            return null;
        }
        List<@Nullable Arg> inputs = new ArrayList<>(first.inputs());
        List<PostOp> postOps = new ArrayList<>(done);
        switch (second.computation()) {
            case Unary unary when isApplied(unary, mayLoseNaN) ->
                postOps.add(new PostOp.Apply(unary.function(), unary.alpha(), unary.beta()));
            case Binary binary when binary.postOps().isEmpty() && COMBINED.contains(binary.function()) -> {
                Arg other = second.inputs().get(1 - input);
                if (other == null || !other.spec().isRowMajor() || other.spec().dtype() != out.spec().dtype()) {
                    return null;
                }
                postOps.add(new PostOp.Combine(binary.function()));
                inputs.add(other);
            }
            case null, default -> {
                return null;
            }
        }
        Computation whole = with(first.computation(), postOps);
        Stage stage = Stage.of(second.access(), whole, inputs, out);
        return isAsGood(first, stage) ? stage : null;
    }

    /**
     * Returns whether a function may be a post-op. As post-ops, some functions of the library turn NaN into a number.
     */
    static boolean isApplied(Unary unary, boolean mayLoseNaN) {
        return mayLoseNaN || new PostOp.Apply(unary.function(), unary.alpha(), unary.beta()).keepsNaN();
    }

    /** Returns the epilogue of a stage's computation; null if it takes none. */
    static @Nullable List<PostOp> postOps(@Nullable Computation computation) {
        return switch (computation) {
            case MatMul product -> product.postOps();
            case Convolution convolution -> convolution.postOps();
            case ConvolutionGradInput transposed -> transposed.postOps();
            case null, default -> null;
        };
    }

    /** Returns a computation with another epilogue. */
    static Computation with(@Nullable Computation computation, List<PostOp> postOps) {
        return switch (computation) {
            case MatMul product -> new MatMul(product.transposeX(), product.transposeY(), product.bias(), postOps);
            case Convolution convolution ->
                new Convolution(convolution.window(), convolution.groups(), convolution.bias(), postOps);
            case ConvolutionGradInput transposed -> new ConvolutionGradInput(transposed.window(), transposed.groups(),
                    transposed.spatial(), postOps);
            case null, default -> throw new IllegalArgumentException(computation + " takes no post-ops");
        };
    }

    /** Returns whether a computation is a convolution, which may be transposed. */
    static boolean isConvolution(@Nullable Computation computation) {
        return computation instanceof Convolution || computation instanceof ConvolutionGradInput;
    }

    private boolean isAsGood(Stage first, Stage whole) {
        return Providers.haveTheSame(kernels, first, whole);
    }
}
