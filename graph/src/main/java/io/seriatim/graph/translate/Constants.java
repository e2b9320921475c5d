package io.seriatim.graph.translate;

import io.seriatim.device.Devices;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Values that are known while a program is built, and operations on them that are computed at once. */
final class Constants {
    /**
     * The most elements of an operand and of a result that are computed at once. Larger ones are weights: the executor
     * computes them once for each version of the parameters, and training changes them.
     */
    private static final long MOST = 4096;

    private final Map<String, Tensor> values = new HashMap<>();
    private final Set<String> trained = new HashSet<>();
    /** Those that callers may feed: what is computed of them is known only when the program runs. */
    private final Set<String> feedable = new HashSet<>();

    Ref add(String name, Tensor value, boolean isTrained) {
        values.put(name, value);
        if (isTrained) {
            trained.add(name);
        }
        return new Ref(name, ArgType.dense(value.dtype(), value.shape().dims()));
    }

    @Nullable
    Tensor find(String name) {
        return values.get(name);
    }

    void feedable(String name) {
        feedable.add(name);
    }

    boolean isFeedable(String name) {
        return feedable.contains(name);
    }

    boolean isTrained(String name) {
        return trained.contains(name);
    }

    /** Whether an operation can be computed now: all its operands are small constants that no training changes. */
    boolean covers(OpDesc op, Program program, Map<String, List<@Nullable ArgType>> results) {
        Operation schema = Operations.system().find(op.type());
        if (schema == null || op.inputNames().isEmpty() || !Operations.system().isPure(op, program, true)) {
            return false;
        }
        for (String name : op.inputNames()) {
            Tensor value = values.get(name);
            if (value == null || feedable.contains(name) || value.shape().size() > MOST
                    || (trained.contains(name) && value.shape().rank() > 0)) {
                return false;
            }
        }
        for (List<@Nullable ArgType> types : results.values()) {
            for (ArgType type : types) {
                if (type != null && (type.kind() != ArgType.Kind.DENSE || elements(type.dims()) > MOST)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** The number of elements; more than any limit if it does not fit or is unknown. */
    private static long elements(long[] dims) {
        double product = 1;
        for (long dim : dims) {
            product *= dim < 0 ? Double.POSITIVE_INFINITY : dim;
        }
        return Double.isNaN(product) || product > Long.MAX_VALUE ? Long.MAX_VALUE : (long) product;
    }

    /** Computes an operation; the values of its results by name. */
    Map<String, Tensor> compute(OpDesc op) {
        Program program = new Program();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        for (String name : op.inputNames()) {
            Tensor value = Objects.requireNonNull(values.get(name), name);
            program.global().put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent());
            interpreter.set(name, copied(value));
        }
        op.outputNames().forEach(name -> program.global().put(VarDesc.of(name, VarType.dense(DType.FLOAT32))));
        program.global().add(op);
        Map<String, Tensor> results = new HashMap<>();
        interpreter.run(program, Map.of(), op.outputNames()).forEach((name, value) -> results.put(name, copied(value)));
        return results;
    }

    /** The same numbers in memory that no kernel has seen, so that plans notice changes and keep what they compute. */
    private static Tensor copied(Tensor value) {
        if (!value.spec().isRowMajor()) {
            return value;
        }
        Tensor copy = Tensor.allocate(Devices.system().host(), value.spec().rowMajor());
        long bytes = value.spec().bytes();
        MemorySegment.copy(value.declared().memory(), value.offset(), copy.declared().memory(), copy.offset(), bytes);
        return copy;
    }
}
