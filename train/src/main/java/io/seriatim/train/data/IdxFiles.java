package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads images in the IDX format of MNIST and Fashion-MNIST, plain or compressed by gzip, independent of the names. The
 * fields are {@code image}, FLOAT32 [1, height, width], with pixels from −1 (0) to 1 (255), that is pixel / 127.5 − 1,
 * and {@code label}, INT64 [1].
 */
public final class IdxFiles {
    static final String WANTED = "train-images-idx3-ubyte with train-labels-idx1-ubyte, t10k-images-idx3-ubyte "
            + "with t10k-labels-idx1-ubyte, each also as .gz";
    private static final String TRAINING = "train";
    private static final String VALIDATION = "t10k";
    private static final String IMAGES = "images";
    private static final String LABELS = "labels";
    private static final int CLASSES = 10;

    private IdxFiles() {
    }

    /**
     * Reads a folder with the ten classes of MNIST or Fashion-MNIST.
     *
     * @param folder
     *            a folder as for {@link #read(Path, int)}
     * @return the images
     * @throws FileFormatException
     *             if a file is missing or invalid
     * @throws IOException
     *             if a file cannot be read
     */
    public static LabelledData read(Path folder) throws IOException {
        return read(folder, CLASSES);
    }

    /**
     * Reads a folder.
     *
     * @param folder
     *            {@code train-images-idx3-ubyte} and {@code train-labels-idx1-ubyte} for training,
     *            {@code t10k-images-idx3-ubyte} and {@code t10k-labels-idx1-ubyte} for validation; the names may end
     *            with {@code .gz}, and may have a dot before {@code idx}. If there is only one of the two pairs, its
     *            last tenth is used for validation
     * @param classes
     *            the number of classes, from 1 to 256; labels must be from 0 to {@code classes} − 1
     * @return the images
     * @throws FileFormatException
     *             if a file is missing or invalid
     * @throws java.nio.file.NoSuchFileException
     *             if the folder does not exist
     * @throws IOException
     *             if a file cannot be read
     */
    public static LabelledData read(Path folder, int classes) throws IOException {
        if (classes < 1 || classes > 256) {
            throw new IllegalArgumentException(
                    "Labels of a byte have from 1 to 256 classes, but " + classes + " are asked for");
        }
        DataFiles.requireExists(folder);
        LabelledImages training = pair(folder, TRAINING, classes);
        LabelledImages validation = pair(folder, VALIDATION, classes);
        if (training != null && validation != null) {
            requireSameSize(training.images(), validation.images());
            return new LabelledData(new Split(training, validation), classes);
        }
        LabelledImages all = training == null ? validation : training;
        if (all == null) {
            throw new FileFormatException(folder.toString(),
                    "the folder must have " + WANTED + ", but has none of them");
        }
        int learnt = all.size() - Math.max(1, all.size() / 10);
        if (learnt < 1) {
            throw new FileFormatException(all.images().file().toString(), 4,
                    "there must be at least 2 images, one of them for validation, but there is 1");
        }
        return new LabelledData(new Split(all.part(0, learnt), all.part(learnt, all.size())), classes);
    }

    /** Returns whether a folder contains any of the files. */
    static boolean isIn(Path folder) {
        return find(folder, TRAINING, IMAGES) != null || find(folder, TRAINING, LABELS) != null
                || find(folder, VALIDATION, IMAGES) != null
                || find(folder, VALIDATION, LABELS) != null;
    }

    private static @Nullable LabelledImages pair(Path folder, String part, int classes) throws IOException {
        Path images = find(folder, part, IMAGES);
        Path labels = find(folder, part, LABELS);
        if (images == null && labels == null) {
            return null;
        }
        if (images == null || labels == null) {
            throw new FileFormatException(folder.toString(),
                    "images and labels belong together, but of " + name(part, IMAGES, '-') + " and "
                            + name(part, LABELS, '-') + " only "
                            + (images == null ? name(part, LABELS, '-') : name(part, IMAGES, '-')) + " is there");
        }
        return LabelledImages.of(IdxArray.read(images, 3), IdxArray.read(labels, 1), classes);
    }

    private static @Nullable Path find(Path folder, String part, String kind) {
        for (char mark : new char[]{'-', '.'}) {
            for (String suffix : new String[]{"", ".gz"}) {
                Path file = folder.resolve(name(part, kind, mark) + suffix);
                if (Files.isRegularFile(file)) {
                    return file;
                }
            }
        }
        return null;
    }

    private static String name(String part, String kind, char mark) {
        return part + '-' + kind + mark + (kind.equals(IMAGES) ? "idx3" : "idx1") + "-ubyte";
    }

    private static void requireSameSize(IdxArray training, IdxArray validation) throws FileFormatException {
        if (training.dim(1) != validation.dim(1) || training.dim(2) != validation.dim(2)) {
            throw new FileFormatException(validation.file().toString(), 8,
                    "images must be as large as those of " + training.file().getFileName() + ", " + training.dim(1)
                            + " × "
                            + training.dim(2)
                            + ", but are " + validation.dim(1) + " × " + validation.dim(2));
        }
    }
}
