package io.seriatim.tensor.onednn;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A computation whose post-ops the library cannot fuse, or only slowly: they run afterwards as kernels of their own, in
 * place. That is faster than plain Java for the whole. A 16-bit result is rounded between them.
 */
final class UnfusedPostOps implements Kernel {
    private final Kernel main;
    private final int[] mainArguments;
    private final List<Follower> followers;

    /** A post-op with the indices of its operands. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Follower(Kernel kernel, int[] arguments) {
    }

    private UnfusedPostOps(Kernel main, int[] mainArguments, List<Follower> followers) {
        this.main = main;
        this.mainArguments = mainArguments;
        this.followers = followers;
    }

    /**
     * Null where the library does not have the computation without post-ops, or where an accumulation needs the
     * previous elements of the output.
     */
    static <C extends Computation> @Nullable Kernel of(List<PostOp> postOps, C plain, @Nullable TensorSpec[] arguments,
            BiFunction<C, @Nullable TensorSpec[], @Nullable Kernel> library) {
        int output = arguments.length - 1;
        TensorSpec out = Objects.requireNonNull(arguments[output]);
        int combined = (int) postOps.stream().filter(PostOp.Combine.class::isInstance).count();
        int inputs = output - combined;
        boolean accumulates = postOps.stream().anyMatch(PostOp.Accumulate.class::isInstance);
        if (postOps.isEmpty() || accumulates || !areOfType(out.dtype(), arguments, inputs)) {
            return null;
        }
        int[] places = new int[inputs + 1];
        Arrays.setAll(places, i -> i < inputs ? i : output);
        Kernel main = library.apply(plain, at(arguments, places));
        return main == null ? null : new UnfusedPostOps(main, places, followers(postOps, inputs, arguments));
    }

    private static boolean areOfType(DType dtype, @Nullable TensorSpec[] arguments, int from) {
        return Arrays.stream(arguments, from, arguments.length).allMatch(spec -> spec != null && spec.dtype() == dtype);
    }

    private static @Nullable TensorSpec[] at(@Nullable TensorSpec[] arguments, int[] places) {
        return Arrays.stream(places).mapToObj(i -> arguments[i]).toArray(TensorSpec[]::new);
    }

    private static List<Follower> followers(List<PostOp> postOps, int firstOperand, @Nullable TensorSpec[] arguments) {
        List<Follower> followers = new ArrayList<>();
        int output = arguments.length - 1;
        int next = firstOperand;
        for (PostOp postOp : postOps) {
            int[] places = postOp instanceof PostOp.Combine
                    ? new int[]{output, next++, output}
                    : new int[]{output, output};
            @Nullable
            TensorSpec[] specs = at(arguments, places);
            Computation computation = postOp instanceof PostOp.Apply(var function, var alpha, var beta)
                    ? new Unary(function, alpha, beta)
                    : Binary.of(((PostOp.Combine) postOp).function());
            followers.add(new Follower(Kernels.system().prepare(computation, Place.CPU, specs), places));
        }
        return List.copyOf(followers);
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        main.run(pick(arguments, mainArguments), context);
        for (Follower follower : followers) {
            follower.kernel().run(pick(arguments, follower.arguments()), context);
        }
    }

    private static @Nullable Tensor[] pick(@Nullable Tensor[] arguments, int[] places) {
        @Nullable
        Tensor[] picked = new Tensor[places.length];
        for (int i = 0; i < places.length; i++) {
            picked[i] = arguments[places[i]];
        }
        return picked;
    }

    @Override
    public String provider() {
        return main.provider();
    }

    @Override
    public TensorSpec preferred(int argument, TensorSpec given) {
        return argument < mainArguments.length - 1 ? main.preferred(argument, given) : given;
    }

    @Override
    public void load() {
        main.load();
        followers.forEach(follower -> follower.kernel().load());
    }

    @Override
    public long bytes() {
        return main.bytes() + followers.stream().mapToLong(follower -> follower.kernel().bytes()).sum();
    }

    @Override
    public long loadedBytes() {
        return main.loadedBytes() + followers.stream().mapToLong(follower -> follower.kernel().loadedBytes()).sum();
    }

    @Override
    public void release() {
        main.release();
        followers.forEach(follower -> follower.kernel().release());
    }

    @Override
    public void close() {
        main.close();
        followers.forEach(follower -> follower.kernel().close());
    }
}
