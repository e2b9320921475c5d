package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.Lod;
import java.util.Arrays;

/** Which rows of a tensor belong to each image of a batch. */
final class ImageRows {
    private ImageRows() {
    }

    /**
     * Where the rows of each image start.
     *
     * @param given
     *            the inputs
     * @param counts
     *            the slot with the number of rows of each image; if it is empty, the rows have offsets
     * @param rows
     *            the slot with the rows of all images
     * @return the first row of each image, then the number of rows of all
     */
    static int[] starts(Given given, String counts, String rows) {
        return starts(given, counts, rows, 0);
    }

    /** Where the rows of each image start in the tensor at a place of a slot. */
    static int[] starts(Given given, String counts, String rows, int index) {
        long all = given.in(rows, index).dims()[0];
        if (!given.has(counts)) {
            Lod lod = SequenceOffsets.of(given.type(), rows, given.lod(rows, index), all);
            given.require(lod.depth() == 1, "the LoD of %s must have one level, but has %d", rows, lod.depth());
            return Arrays.stream(lod.last()).mapToInt(Math::toIntExact).toArray();
        }
        double[] numbers = given.numbers(counts, index);
        int[] starts = new int[numbers.length + 1];
        long start = 0;
        for (int i = 0; i < numbers.length; i++) {
            given.require(numbers[i] >= 0, "%s must hold numbers of rows, but holds %s", counts,
                    Numbers.text(numbers));
            start += (long) numbers[i];
            given.require(start <= all, "%s must divide the %d rows of %s, but is %s", counts, all, rows,
                    Numbers.text(numbers));
            starts[i + 1] = (int) start;
        }
        return starts;
    }
}
