package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.tensor.DType;
import java.util.Arrays;

/** Checks of the inputs of operations on boxes; dimensions that are not known yet pass. */
final class Shapes {
    private Shapes() {
    }

    /** All variables of some slots are of the same floating type. */
    static void requireFloats(Inference inference, String... slots) {
        DType dtype = inference.dtype(slots[0]);
        for (String slot : slots) {
            for (int i = 0; i < inference.count(slot); i++) {
                DType found = inference.in(slot, i).dtype();
                inference.require(found.isFloating() && found == dtype,
                        "the slots %s must hold numbers of one floating type, but slot %s holds %s",
                        Numbers.text((Object[]) slots), slot, found);
            }
        }
    }

    /** An input holds whole numbers. */
    static void requireInts(Inference inference, String slot) {
        for (int i = 0; i < inference.count(slot); i++) {
            DType dtype = inference.in(slot, i).dtype();
            inference.require(dtype == DType.INT32 || dtype == DType.INT64,
                    "the slot %s must hold int32 or int64, but holds %s", slot, dtype);
        }
    }

    /**
     * All variables of a slot have given dimensions.
     *
     * @param inference
     *            of an operation
     * @param slot
     *            an input
     * @param dims
     *            the dimensions; negative where any length will do
     * @return those of the first
     */
    static long[] require(Inference inference, String slot, long... dims) {
        for (int i = 0; i < inference.count(slot); i++) {
            ArgType type = inference.in(slot, i);
            inference.require(fits(type.dims(), dims), "the slot %s must have the shape %s, but has %s", slot,
                    text(dims), Numbers.text(type.dims()));
        }
        return inference.dims(slot);
    }

    private static boolean fits(long[] dims, long[] wanted) {
        boolean fits = dims.length == wanted.length;
        for (int i = 0; fits && i < dims.length; i++) {
            fits = wanted[i] < 0 || dims[i] < 0 || dims[i] == wanted[i];
        }
        return fits;
    }

    private static String text(long[] dims) {
        return Arrays.toString(Arrays.stream(dims).mapToObj(dim -> dim < 0 ? "?" : Long.toString(dim)).toArray());
    }

    /** A number that an attribute gives is at least another one. */
    static int atLeast(Inference inference, String attribute, int least) {
        int value = inference.attrs().getInt(attribute);
        inference.require(value >= least, "the attribute '%s' must be %d or more, but is %d", attribute, least, value);
        return value;
    }

    /** An attribute holds a finite number. */
    static void requireFinite(Inference inference, String... attributes) {
        for (String name : attributes) {
            double value = inference.attrs().getFloat(name);
            inference.require(Double.isFinite(value), "the attribute '%s' must be a finite number, but is %s", name,
                    value);
        }
    }

    /** An attribute holds finite numbers. */
    static double[] requireAllFinite(Inference inference, String attribute) {
        double[] values = inference.attrs().getDoubles(attribute);
        inference.require(Arrays.stream(values).allMatch(Double::isFinite),
                "the numbers of the attribute '%s' must be finite, but are %s", attribute, Numbers.text(values));
        return values;
    }
}
