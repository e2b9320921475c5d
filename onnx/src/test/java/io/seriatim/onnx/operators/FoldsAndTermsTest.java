package io.seriatim.onnx.operators;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Images from columns, and counts of n-grams. */
class FoldsAndTermsTest {
    /** The form for constants is PaddlePaddle's operation; the other one is computed by this module. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void computedSizesGiveWhatConstantsGive(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long[] block = {random.nextLong(1, 4), random.nextLong(1, 4)};
        long[] strides = {random.nextLong(1, 3), random.nextLong(1, 3)};
        long[] dilations = {random.nextLong(1, 3), random.nextLong(1, 3)};
        long[] pads = {random.nextLong(0, 2), random.nextLong(0, 2), random.nextLong(0, 2), random.nextLong(0, 2)};
        long[] image = new long[2];
        long columns = 1;
        for (int i = 0; i < 2; i++) {
            long count = random.nextLong(1, 5);
            image[i] = (count - 1) * strides[i] + dilations[i] * (block[i] - 1) + 1 - pads[i] - pads[i + 2];
            if (image[i] < 1) {
                image[i] += 3 * strides[i];
                count += 3;
            }
            columns *= count;
        }
        long rows = 2 * block[0] * block[1];
        Tensor x = Tensor.of(DType.FLOAT32, random.doubles(3 * rows * columns, -1, 1).toArray(), 3, rows, columns);
        Tensor size = Tensor.of(image, 2);
        Tensor kernel = Tensor.of(block, 2);
        OneOperator constant = operator(strides, dilations, pads).withConstants();
        float[] expected = constant.run(x, size, kernel).toFloatArray();
        assertArrayEquals(expected, operator(strides, dilations, pads).run(x, size, kernel).toFloatArray(), 1e-5f);
    }

    private static OneOperator operator(long[] strides, long[] dilations, long[] pads) {
        return OneOperator.of(RegionOperators::register, "Col2Im", 18).integers("strides", strides[0], strides[1])
                .integers("dilations", dilations[0], dilations[1])
                .integers("pads", pads[0], pads[1], pads[2], pads[3]);
    }

    @Test
    void columnsMustFitTheImage() {
        Tensor x = Tensor.of(DType.FLOAT32, new double[24], 1, 4, 6);
        OneOperator fold = operator(new long[]{1, 1}, new long[]{1, 1}, new long[4]);
        String message = assertThrows(IllegalArgumentException.class,
                () -> fold.run(x, Tensor.of(new long[]{5, 5}, 2), Tensor.of(new long[]{2, 2}, 2))).getMessage();
        assertTrue(message != null && message.contains("16 blocks") && message.contains("6 columns"), message);
    }

    private static OneOperator terms(String mode) {
        return OneOperator.of(TermOperators::register, "TfIdfVectorizer", 9).text("mode", mode)
                .integer("min_gram_length", 1).integer("max_gram_length", 2).integer("max_skip_count", 1)
                .integers("ngram_counts", 0L, 2L).integers("ngram_indexes", 2L, 0L, 1L)
                .integers("pool_int64s", 7L, 8L, 7L, 8L);
    }

    /** The words 7 and 8, and 8 after 7 at a distance of 1 or 2. */
    @ParameterizedTest
    @CsvSource({"TF, 1 3 2", "IDF, 1 1 1", "TFIDF, 1 3 2"})
    void ngramsAreCounted(String mode, String expected) {
        Tensor x = Tensor.of(DType.INT64, new long[]{7, 7, 8, 9, 7, 1, 1}, 1, 7);
        float[] wanted = new float[3];
        String[] parts = expected.split(" ", -1);
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] = Float.parseFloat(parts[i]);
        }
        // Columns: 8, 7 before 8, 7.
        float[] counts = terms(mode).run(x).toFloatArray();
        assertArrayEquals(new float[]{wanted[0], wanted[2], wanted[1]}, counts);
    }

    @Test
    void poolsMustFitTheirColumns() {
        OneOperator few = terms("TF").integers("ngram_indexes", 0L, 1L);
        String message = assertThrows(IllegalArgumentException.class,
                () -> few.run(Tensor.of(new long[]{7, 8}, 2))).getMessage();
        assertTrue(message != null && message.contains("ngram_indexes") && message.contains("only 2"), message);
    }
}
