package io.seriatim.tensor.array;

import io.seriatim.device.Place;
import io.seriatim.engine.Var;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.RandomNumbers;
import io.seriatim.tensor.computation.RandomNumbers.Distribution;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Random numbers for arrays. The numbers of a draw depend on the seed and the number of draws that were pushed before
 * it, never on threads or places. Every draw mutates the generator's variable.
 */
public final class Generator {
    private final NDArrays arrays;
    private final Var var;
    private final long seed;
    private final AtomicLong draws = new AtomicLong();

    Generator(NDArrays arrays, long seed) {
        this.arrays = arrays;
        this.seed = seed;
        var = arrays.engine().newVar("generator");
    }

    /**
     * The variable that every draw mutates.
     *
     * @return the engine's variable
     */
    public Var var() {
        return var;
    }

    /**
     * The number of draws that were pushed. Together with the seed, it is the state.
     *
     * @return a count
     */
    public long draws() {
        return draws.get();
    }

    /**
     * Continues after a number of draws.
     *
     * @param count
     *            as {@link #draws} gave it
     */
    public void draws(long count) {
        draws.set(count);
    }

    /**
     * Uniformly distributed numbers.
     *
     * @param from
     *            the least, included
     * @param to
     *            the end, excluded
     * @param shape
     *            the dimensions; none for a single element
     * @return a float32 array
     */
    public NDArray uniform(double from, double to, long... shape) {
        return draw(arrays.empty(DType.FLOAT32, shape), Distribution.UNIFORM, from, to);
    }

    /**
     * Normally distributed numbers.
     *
     * @param mean
     *            their mean
     * @param deviation
     *            their standard deviation, 0 or more
     * @param shape
     *            the dimensions; none for a single element
     * @return a float32 array
     */
    public NDArray normal(double mean, double deviation, long... shape) {
        return draw(arrays.empty(DType.FLOAT32, shape), Distribution.NORMAL, mean, deviation);
    }

    /**
     * Ones with a probability, else zeros (Bernoulli).
     *
     * @param probability
     *            from 0 to 1
     * @param shape
     *            the dimensions; none for a single element
     * @return a float32 array
     */
    public NDArray bernoulli(double probability, long... shape) {
        return draw(arrays.empty(DType.FLOAT32, shape), Distribution.BERNOULLI, probability, 0);
    }

    /**
     * Whole numbers evenly from a range.
     *
     * @param from
     *            the least, included
     * @param to
     *            the end, excluded
     * @param shape
     *            the dimensions; none for a single element
     * @return an int64 array
     */
    public NDArray integers(long from, long to, long... shape) {
        return draw(arrays.empty(DType.INT64, shape), Distribution.WHOLE, (double) from, (double) to);
    }

    /**
     * Fills an existing array or slice.
     *
     * @param array
     *            of any type
     * @param distribution
     *            the distribution
     * @param a
     *            its first parameter
     * @param b
     *            its second parameter
     * @return the array
     */
    public NDArray draw(NDArray array, Distribution distribution, double a, double b) {
        Computation computation = new RandomNumbers(distribution, a, b, array.dtype());
        NDArrays host = arrays.at(Place.CPU);
        NDArray key = host.of(new long[]{seed, draws.getAndIncrement()}, 2);
        // Numbers are drawn at the place of the array.
        NDArray there = array.place().isHost() ? key : key.copyTo(array.place());
        ArrayOps.compute("random", computation, List.of(there), List.of(array), var);
        return array;
    }
}
