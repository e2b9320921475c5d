package io.seriatim.cli.quantize;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Calibration data: arrays by name whose rows are the examples. An {@code .npz} has them by name, an {@code .npy} is
 * the only feed of a model, and a folder has a file {@code NAME.npy} for each, or several {@code .npz} of more
 * examples.
 */
final class Examples {
    private static final String NPY = ".npy";
    private static final String NPZ = ".npz";

    /** Arrays with the same number of rows, from one file or folder. */
    private record Part(String source, Map<String, Tensor> arrays, long rows) {
    }

    private final List<Part> parts = new ArrayList<>();

    private Examples() {
    }

    /**
     * Reads all files.
     *
     * @param data
     *            a file or folder
     * @param feeds
     *            the feeds that must be there
     * @throws FileFormatException
     *             if a file is no array, has no rows, or has another number of rows than those beside it
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    static Examples read(Path data, List<String> feeds) throws IOException {
        Examples examples = new Examples();
        String name = String.valueOf(data.getFileName());
        if (Files.isDirectory(data)) {
            List<Path> archives = files(data, NPZ);
            if (archives.isEmpty()) {
                examples.add(data, arrays(data), feeds);
            }
            for (Path archive : archives) {
                examples.add(archive, Npz.read(archive), feeds);
            }
        } else if (!Files.exists(data)) {
            throw new NoSuchFileException(data.toString());
        } else if (name.endsWith(NPZ)) {
            examples.add(data, Npz.read(data), feeds);
        } else if (feeds.size() == 1) {
            examples.add(data, Map.of(feeds.getFirst(), Npy.read(data)), feeds);
        } else {
            throw new FileFormatException(data.toString(), "the model has the feeds " + feeds
                    + ": give an .npz with an array for each, or a folder with a file NAME.npy for each");
        }
        return examples;
    }

    private static List<Path> files(Path folder, String end) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(end)).sorted().toList();
        }
    }

    private static Map<String, Tensor> arrays(Path folder) throws IOException {
        Map<String, Tensor> arrays = new LinkedHashMap<>();
        for (Path file : files(folder, NPY)) {
            String name = String.valueOf(file.getFileName());
            arrays.put(name.substring(0, name.length() - NPY.length()), Npy.read(file));
        }
        return arrays;
    }

    private void add(Path source, Map<String, Tensor> arrays, List<String> feeds) throws FileFormatException {
        long rows = -1;
        for (String feed : feeds) {
            Tensor array = arrays.get(feed);
            if (array == null) {
                throw new FileFormatException(source.toString(), "there is no array for the feed '" + feed
                        + "'; there are " + new TreeSet<>(arrays.keySet()));
            }
            if (array.shape().rank() == 0 || array.shape().dim(0) == 0
                    || (rows >= 0 && array.shape().dim(0) != rows)) {
                throw new FileFormatException(source.toString(), "the array '" + feed + "' must have a row for each of "
                        + (rows < 0 ? "1 or more" : "the " + rows) + " examples, but has the shape " + array.shape());
            }
            rows = array.shape().dim(0);
        }
        parts.add(new Part(source.toString(), arrays, rows));
    }

    /** The number of examples. */
    long count() {
        return parts.stream().mapToLong(Part::rows).sum();
    }

    /** The first of some names whose arrays all parts have, with a row for each example; null if there is none. */
    @Nullable
    String firstOf(List<String> names) {
        return names.stream().filter(name -> parts.stream().allMatch(part -> {
            Tensor array = part.arrays().get(name);
            return array != null && array.shape().rank() > 0 && array.shape().dim(0) == part.rows();
        })).findFirst().orElse(null);
    }

    /**
     * Batches of up to a number of examples.
     *
     * @param size
     *            the most examples of a batch
     * @param most
     *            the most examples of all batches
     * @param whole
     *            whether batches with fewer examples are left out
     * @param names
     *            the arrays that a batch has
     */
    List<Map<String, Tensor>> batches(long size, long most, boolean whole, List<String> names) {
        List<Map<String, Tensor>> batches = new ArrayList<>();
        long left = most;
        for (Part part : parts) {
            for (long from = 0; from < part.rows() && left > 0; from += size) {
                long to = Math.min(part.rows(), from + Math.min(size, left));
                if (whole && to - from < size) {
                    break;
                }
                Map<String, Tensor> batch = new LinkedHashMap<>();
                for (String name : names) {
                    Tensor array = part.arrays().get(name);
                    if (array != null) {
                        batch.put(name, array.slice(0, from, to));
                    }
                }
                batches.add(batch);
                left -= to - from;
            }
        }
        return batches;
    }
}
