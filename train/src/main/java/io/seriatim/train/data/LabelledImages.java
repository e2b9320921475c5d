package io.seriatim.train.data;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;

/** Images of one channel, stored as bytes and converted when a batch is read. */
final class LabelledImages implements Dataset {
    private static final float[] PIXELS = new float[256];

    static {
        for (int i = 0; i < PIXELS.length; i++) {
            PIXELS[i] = i / 127.5f - 1;
        }
    }

    private final IdxArray images;
    private final IdxArray labels;
    private final int first;
    private final int count;

    private LabelledImages(IdxArray images, IdxArray labels, int first, int count) {
        this.images = images;
        this.labels = labels;
        this.first = first;
        this.count = count;
    }

    /** Combines images and labels, after checking that they match. */
    static LabelledImages of(IdxArray images, IdxArray labels, int classes) throws FileFormatException {
        if (images.dim(0) != labels.dim(0)) {
            throw new FileFormatException(labels.file().toString(), 4,
                    "there must be a label for each of the " + images.dim(0)
                            + " images of " + images.file().getFileName() + ", but there are " + labels.dim(0));
        }
        byte[] bytes = labels.bytes();
        for (int i = 0; i < bytes.length; i++) {
            if ((bytes[i] & 0xff) >= classes) {
                throw new FileFormatException(labels.file().toString(), 8L + i,
                        "a label must be from 0 to " + (classes - 1) + ", but that of image " + i + " is "
                                + (bytes[i] & 0xff));
            }
        }
        return new LabelledImages(images, labels, 0, images.dim(0));
    }

    LabelledImages part(int from, int to) {
        return new LabelledImages(images, labels, first + from, to - from);
    }

    IdxArray images() {
        return images;
    }

    @Override
    public List<Field> fields() {
        return List.of(new Field("image", DType.FLOAT32, Shape.of(1, images.dim(1), images.dim(2))),
                new Field("label", DType.INT64, Shape.of(1)));
    }

    @Override
    public int size() {
        return count;
    }

    @Override
    public List<Tensor> batch(int[] examples) {
        int pixels = images.dim(1) * images.dim(2);
        float[] image = new float[Math.multiplyExact(examples.length, pixels)];
        long[] label = new long[examples.length];
        for (int i = 0; i < examples.length; i++) {
            int example = first + Objects.checkIndex(examples[i], count);
            label[i] = labels.bytes()[example] & 0xff;
            for (int j = 0; j < pixels; j++) {
                image[i * pixels + j] = PIXELS[images.bytes()[example * pixels + j] & 0xff];
            }
        }
        return List.of(Tensor.of(image, examples.length, 1, images.dim(1), images.dim(2)),
                Tensor.of(label, examples.length, 1));
    }
}
