package io.seriatim.graph.interpret;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.ops.normalisation.SyncBatchNormOperations;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The operations by which all ranks communicate. Their types are known before a run, so that an executor schedules them
 * like computations; what they do needs the communicator of the run.
 */
public final class Collective {
    private static final Set<String> SYNCHRONISATIONS = Set.of("c_sync_calc_stream", "c_sync_comm_stream");
    private static final Set<String> TYPES = Set.of("c_allreduce_sum", "c_broadcast", "c_allgather",
            "c_reducescatter");

    private Collective() {
    }

    /**
     * Whether an operation is one of these.
     *
     * @param op
     *            any
     * @return false for other communication, such as between two ranks
     */
    public static boolean is(OpDesc op) {
        return isComputation(op) || TYPES.contains(op.type()) || SYNCHRONISATIONS.contains(op.type());
    }

    /** Whether an operation of these also computes, in steps. */
    static boolean isComputation(OpDesc op) {
        return SyncBatchNormOperations.is(op.type());
    }

    /**
     * Whether an operation can be run.
     *
     * @param op
     *            one of these
     * @param communicator
     *            that of the run, if there is one
     * @return synchronisation needs none, since operations that depend on communication wait for it anyway
     */
    public static boolean isReady(OpDesc op, @Nullable Communicator communicator) {
        return communicator != null || SYNCHRONISATIONS.contains(op.type())
                || (isComputation(op) && !SyncBatchNormOperations.isOfBatch(attrs(op)));
    }

    private static Attrs attrs(OpDesc op) {
        return new Attrs(op, Operations.system().get(op.type()));
    }

    /**
     * The steps of an operation, one for each of its variables.
     *
     * @param op
     *            one of these, which {@link #isReady}
     * @param lowering
     *            of the operation, with inferred outputs
     * @param communicator
     *            that of the run
     * @return the steps
     */
    public static Lowered lower(OpDesc op, Lowering lowering, @Nullable Communicator communicator) {
        if (isComputation(op)) {
            SyncBatchNormOperations.lower(lowering, communicator == null ? 0 : communicator.size(),
                    own -> gathered(own, Objects.requireNonNull(communicator)));
            return lowering.lowered();
        }
        Step.HostFunction function = (inputs, outputs) -> run(op, Objects.requireNonNull(inputs.getFirst()),
                Objects.requireNonNull(outputs.getFirst()), communicator);
        for (int i = 0; i < op.output("Out").size(); i++) {
            lowering.callWithComplex(op.type(), function, List.of(lowering.in("X", i)),
                    List.of(lowering.output("Out", i)));
        }
        return lowering.lowered();
    }

    private static double[][] gathered(double[] own, Communicator communicator) {
        double[] all = new double[Math.multiplyExact(own.length, communicator.size())];
        communicator.allGather(MemorySegment.ofArray(own), MemorySegment.ofArray(all));
        double[][] ranks = new double[communicator.size()][];
        for (int rank = 0; rank < ranks.length; rank++) {
            ranks[rank] = Arrays.copyOfRange(all, rank * own.length, (rank + 1) * own.length);
        }
        return ranks;
    }

    /** Runs an operation on the variables of an environment. */
    static void run(OpDesc op, Environment environment, @Nullable Communicator communicator) {
        List<String> out = op.output("Out");
        for (int i = 0; i < out.size(); i++) {
            String name = op.input("X").get(i);
            if (SYNCHRONISATIONS.contains(op.type())) {
                if (!name.equals(out.get(i))) {
                    environment.set(out.get(i), VariableValues.copy(environment.get(name)));
                }
                continue;
            }
            if (!(environment.get(name) instanceof Tensor from)) {
                throw new IllegalArgumentException("Ranks exchange tensors, but '" + name
                        + "' holds some rows or a list: make it dense, for instance without is_sparse");
            }
            long[] dims = from.shape().dims();
            int ranks = Objects.requireNonNull(communicator).size();
            if (op.type().equals("c_allgather")) {
                dims[0] = Math.multiplyExact(dims[0], ranks);
            } else if (op.type().equals("c_reducescatter")) {
                if (dims[0] % ranks != 0) {
                    throw new IllegalArgumentException("The first dimension of '" + name + "', " + dims[0]
                            + ", must be a multiple of the ranks, " + ranks);
                }
                dims[0] /= ranks;
            }
            Tensor to = Tensor.allocate(from.dtype(), dims);
            run(op, from, to, communicator);
            environment.set(out.get(i), to);
        }
    }

    private static void run(OpDesc op, Tensor from, Tensor to, @Nullable Communicator communicator) {
        if (SYNCHRONISATIONS.contains(op.type())) {
            VariableValues.copy(from, to);
            return;
        }
        if (!to.spec().isRowMajor()) {
            Tensor whole = Tensor.allocate(to.dtype(), to.shape().dims());
            run(op, from, whole, communicator);
            VariableValues.copy(whole, to);
            return;
        }
        Communicator ranks = Objects.requireNonNull(communicator);
        Attrs attrs = attrs(op);
        switch (op.type()) {
            case "c_allreduce_sum" -> {
                VariableValues.copy(from, to);
                ranks.allReduce(to.elements(), to.dtype(),
                        attrs.getInt("wire_dtype") < 0 ? to.dtype() : attrs.getDType("wire_dtype"));
            }
            case "c_broadcast" -> {
                VariableValues.copy(from, to);
                ranks.broadcast(to.elements(), attrs.getInt("root"));
            }
            case "c_allgather" -> ranks.allGather(rowMajor(from).elements(), to.elements());
            case "c_reducescatter" -> ranks.reduceScatter(rowMajor(from).elements(), to.elements(), to.dtype());
            default -> throw new IllegalStateException(op.type());
        }
    }

    private static Tensor rowMajor(Tensor tensor) {
        return tensor.spec().isRowMajor() ? tensor : VariableValues.copy(tensor);
    }
}
