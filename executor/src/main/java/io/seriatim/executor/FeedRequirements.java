package io.seriatim.executor;

import io.seriatim.executor.ir.RunFailure;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.FeedCheck;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SymbolicDims;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a plan's feeds must be, checked before a run computes anything, and whether a failure is due to them. */
final class FeedRequirements {
    private final List<String> names;
    private final List<VarDesc> descs;
    private final SymbolicDims symbolicDims;

    private FeedRequirements(List<String> names, List<VarDesc> descs, SymbolicDims symbolicDims) {
        this.names = names;
        this.descs = descs;
        this.symbolicDims = symbolicDims;
    }

    /**
     * Creates the requirements of some feeds.
     *
     * @throws BadRequestException
     *             if the program has no variable of a name
     */
    static FeedRequirements of(Program program, Feeds feeds) {
        for (String name : feeds.names()) {
            if (program.global().var(name) == null) {
                throw new BadRequestException(FeedCheck.unknown(program, name));
            }
        }
        return new FeedRequirements(feeds.names(), feeds.names().stream().map(program.global()::get).toList(),
                program.symbolicDims());
    }

    /** Returns checked values by name, in a map that may be changed. */
    Map<String, Tensor> checked(@Nullable Tensor... values) {
        requireCount(values.length);
        Map<String, Tensor> fed = LinkedHashMap.newLinkedHashMap(values.length);
        for (int i = 0; i < values.length; i++) {
            Tensor value = present(names.get(i), values[i]);
            requireOpen(names.get(i), value);
            require(descs.get(i), value.spec());
            fed.put(names.get(i), value);
        }
        requireEqualDims(i -> Objects.requireNonNull(fed.get(names.get(i))).shape());
        return fed;
    }

    /** Returns the values of some feeds, of which none may be null. */
    static Tensor[] present(List<String> names, Map<String, Tensor> values) {
        return names.stream().map(name -> present(name, values.get(name))).toArray(Tensor[]::new);
    }

    static Tensor present(String name, @Nullable Tensor value) {
        if (value == null) {
            throw new BadRequestException("The value for feed '" + name + "' must not be null: give a tensor");
        }
        return value;
    }

    private void requireCount(int count) {
        if (count != names.size()) {
            throw new BadRequestException("The feeds of the plan are " + names + ", but " + count
                    + " tensors are given: pass one for each feed");
        }
    }

    /** Checks types and shapes, of arrays that an engine may still compute. */
    void require(List<TensorSpec> specs) {
        requireCount(specs.size());
        for (int i = 0; i < specs.size(); i++) {
            require(descs.get(i), specs.get(i));
        }
        requireEqualDims(i -> specs.get(i).shape());
    }

    /** Checks the type and shape of one value, such as one of a reader. */
    static void require(VarDesc desc, TensorSpec spec) {
        String problem = FeedCheck.problem(desc, spec, "is");
        if (problem != null) {
            throw new BadRequestException(problem);
        }
    }

    private interface Shapes {
        /** The shape of a feed. */
        Shape of(int feed);
    }

    private void requireEqualDims(Shapes shapes) {
        String problem = symbolicDims.problem(names, name -> shapes.of(names.indexOf(name)));
        if (problem != null) {
            throw new BadRequestException(problem);
        }
    }

    private static void requireOpen(String name, Tensor value) {
        try {
            value.buffer().requireOpen();
        } catch (IllegalStateException e) {
            throw new BadRequestException("Feed '" + name + "', " + value.spec()
                    + ", is a closed tensor: close it after the run. " + e.getMessage(), e);
        }
    }

    /**
     * Converts the internal exception of a failed run to a public one: a {@link BadRequestException} if a value that
     * was fed is the cause.
     */
    RuntimeException exception(Program program, RunFailure failure, Map<String, Tensor> fed) {
        ProgramFailedException failed = ProgramFailedException.of(failure);
        for (String name : names) {
            try {
                requireOpen(name, Objects.requireNonNull(fed.get(name)));
            } catch (BadRequestException e) {
                return new BadRequestException(e.getMessage() + "; " + failed.getMessage(), failed);
            }
        }
        return isOfIndex(failure) && dependsOnFeeds(program, failure.reads(), names)
                ? new BadRequestException(String.valueOf(failed.getMessage()), failed)
                : failed;
    }

    private static boolean isOfIndex(Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof IndexRangeException)) {
            cause = cause.getCause();
        }
        return cause != null;
    }

    /** Whether one of some variables is fed, or computed from variables that are. Only failures ask. */
    private static boolean dependsOnFeeds(Program program, Set<String> reads, List<String> feeds) {
        Set<String> dependent = new HashSet<>(feeds);
        boolean grows = true;
        while (grows) {
            grows = false;
            for (Block block : program.blocks()) {
                for (OpDesc op : block.ops()) {
                    if (op.inputNames().stream().anyMatch(dependent::contains)) {
                        grows |= dependent.addAll(op.outputNames());
                    }
                }
            }
        }
        return reads.stream().anyMatch(dependent::contains);
    }
}
