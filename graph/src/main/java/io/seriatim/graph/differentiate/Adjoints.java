package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.ScatterNd;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The gradients of memory, as far as they are summed up. Memory that is not here has the gradient 0. */
final class Adjoints {
    private final Lowering l;
    private final Map<Operand.Source, Sum> sums = new HashMap<>();

    /**
     * A gradient of all of a memory.
     *
     * @param value
     *            of the memory's shape
     * @param own
     *            whether it is temporary, row-major, and read by nothing else, so that it may be changed
     */
    private record Sum(Operand value, boolean own) {
    }

    Adjoints(Lowering l) {
        this.l = l;
    }

    /** The gradient of all of a memory; null for 0. */
    @Nullable
    Operand whole(Operand memory) {
        Sum sum = sums.get(memory.source());
        return sum == null ? null : sum.value();
    }

    /** The gradient of a part of memory; null for 0. It is not changed any more. */
    @Nullable
    Operand read(Operand region) {
        Sum sum = sums.get(region.source());
        if (sum == null || region.shape().size() == 0) {
            return null;
        }
        if (region.spec().equals(l.whole(region).spec())) {
            sums.put(region.source(), new Sum(sum.value(), false));
            return sum.value();
        }
        Operand value = sum.value().isRowMajor() ? sum.value() : l.copy(sum.value());
        sums.put(region.source(), new Sum(value, false));
        return Views.at(region, value);
    }

    /** Forgets the gradient of a part that is overwritten. */
    void clear(Operand region) {
        Operand whole = l.whole(region);
        if (!sums.containsKey(region.source()) || region.shape().size() == 0) {
            return;
        }
        if (Views.coveringOrder(region, whole) != null) {
            sums.remove(region.source());
        } else {
            l.into(new Fill(0), List.of(), List.of(Views.at(region, own(whole))));
        }
    }

    /** Adds to the gradient of a part: a value of the part's shape and type. */
    void add(Operand region, Operand value) {
        if (region.shape().size() == 0) {
            return;
        }
        Operand place = Views.unrepeated(region);
        Operand part = Views.fitted(l, value, place.shape());
        Operand whole = l.whole(place);
        int[] order = Views.coveringOrder(place, whole);
        if (order != null) {
            Operand ordered = place.spec().equals(whole.spec()) ? part : part.transpose(order);
            addAll(whole, ordered.shape().equals(whole.shape())
                    ? ordered
                    : l.reshape(ordered, whole.shape().dims()));
        } else if (Views.repeats(place)) {
            long[] at = Views.indexes(place);
            Operand indexes = l.constant(Tensor.of(at, at.length, 1));
            Operand flat = l.reshape(own(whole), whole.shape().size());
            Operand sum = l.run(new ScatterNd(ScatterNd.Function.ADD), flat, indexes, l.reshape(part, at.length));
            sums.put(whole.source(), new Sum(sum.reshape(whole.shape().dims()), true));
        } else if (sums.containsKey(whole.source())) {
            Operand to = Views.at(place, own(whole));
            l.into(Binary.of(Binary.Function.ADD), Arrays.asList(to, part), List.of(to));
        } else {
            l.into(Copy.PLAIN, List.of(part), List.of(Views.at(place, own(whole))));
        }
    }

    /** Adds to the gradient of all of a memory. */
    void addAll(Operand whole, Operand value) {
        Sum before = sums.get(whole.source());
        sums.put(whole.source(), before == null
                ? new Sum(value, false)
                : new Sum(l.binary(Binary.Function.ADD, before.value(), value), true));
    }

    /** The gradient of all of a memory, to be changed. */
    private Operand own(Operand whole) {
        Sum sum = sums.get(whole.source());
        if (sum != null && sum.own()) {
            return sum.value();
        }
        Operand value = sum == null ? l.fill(0, whole.spec()) : l.copy(sum.value());
        sums.put(whole.source(), new Sum(value, true));
        return value;
    }
}
