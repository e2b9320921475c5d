package io.seriatim.tensor.array;

import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import java.util.List;

/** The part of an {@link NDArray} that says what it is, and that pushes operations. */
abstract sealed class ArrayState permits ArrayArithmetic {
    private final NDArrays home;
    private final Storage storage;
    private final Tensor tensor;
    /** The arrays that the next operation writes to; empty for new ones. */
    private final List<NDArray> targets;

    ArrayState(NDArrays home, Storage storage, Tensor tensor, List<NDArray> targets) {
        this.home = home;
        this.storage = storage;
        this.tensor = tensor;
        this.targets = targets;
    }

    /** This object as the type that callers know. */
    abstract NDArray self();

    /** The factory that made it. */
    NDArrays home() {
        return home;
    }

    Storage storage() {
        return storage;
    }

    Tensor tensor() {
        return tensor;
    }

    String name() {
        return storage.var().name();
    }

    /** Whether this array covers its whole memory. */
    boolean isWhole() {
        return tensor.shape().size() == storage.whole().shape().size();
    }

    /**
     * The dimensions.
     *
     * @return the shape
     */
    public Shape shape() {
        return tensor.shape();
    }

    /**
     * The elements' type.
     *
     * @return the type
     */
    public DType dtype() {
        return tensor.dtype();
    }

    /**
     * The place of its memory.
     *
     * @return the place
     */
    public Place place() {
        return storage.placement().place();
    }

    /**
     * The engine of its operations.
     *
     * @return the engine that it was made on
     */
    public Engine engine() {
        return storage.engine();
    }

    /**
     * The variable that orders the operations on it, for operations of your own. Views share it.
     *
     * @return the engine's variable
     */
    public Var var() {
        return storage.var();
    }

    /**
     * The same array, whose next operation writes its result into another array or slice instead of making a new one:
     * {@code a.into(out).add(b)}. The target may overlap the operands. Views, copies to places, assignments and reads
     * have no result to write and are refused.
     *
     * @param out
     *            arrays of the results' types and shapes, at the same place; as many as the operation has results
     * @return this array, to call one operation on, which returns the target
     */
    public NDArray into(NDArray... out) {
        return new NDArray(home, storage, tensor, List.of(out));
    }

    NDArray number(double value) {
        storage.requireOpen();
        return home.constant(value, dtype(), storage.placement());
    }

    NDArray plain() {
        return targets.isEmpty() ? self() : new NDArray(home, storage, tensor);
    }

    void requireNoTarget(String operation) {
        if (!targets.isEmpty()) {
            throw new IllegalStateException(operation + " of '" + name()
                    + "' computes no new array that could be written: into(...) must be followed by an operation "
                    + "that does");
        }
    }

    NDArray apply(String name, Computation computation, NDArray... others) {
        NDArray[] inputs = new NDArray[others.length + 1];
        TensorSpec[] specs = new TensorSpec[inputs.length];
        for (int i = 0; i < inputs.length; i++) {
            inputs[i] = i == 0 ? plain() : others[i - 1].plain();
            inputs[i].storage().requireOpen();
            specs[i] = inputs[i].tensor().spec();
        }
        List<NDArray> results = results(name, computation.infer(specs));
        ArrayOps.compute(name, computation, List.of(inputs), results);
        return results.getFirst();
    }

    List<NDArray> results(String name, TensorSpec... specs) {
        if (targets.isEmpty()) {
            return Arrays.stream(specs).map(spec -> home.allocate(name, spec, storage.placement())).toList();
        }
        if (targets.size() != specs.length) {
            throw new IllegalArgumentException(
                    name + " has " + specs.length + " results, but into(...) was given " + targets.size() + " arrays");
        }
        for (int i = 0; i < specs.length; i++) {
            NDArray target = targets.get(i);
            target.requireNoTarget(name);
            target.storage().requireOpen();
            if (target.dtype() != specs[i].dtype() || !target.shape().equals(specs[i].shape())) {
                throw new IllegalArgumentException(
                        name + ": the result is " + specs[i] + ", but is to be written into '" + target.name()
                                + "', which is " + target.tensor().spec());
            }
        }
        return targets;
    }

    NDArray view(String operation, Tensor part) {
        requireNoTarget(operation);
        storage.requireOpen();
        return new NDArray(home, storage, part);
    }
}
