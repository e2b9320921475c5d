package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reads examples as arrays of inputs, x, and labels, y. The fields are {@code x}, with the shape of one example, and
 * {@code y}. Labels of an integer type are classes: INT64 [1]. Labels of a floating-point type are values: FLOAT32
 * [values].
 *
 * <ul>
 * <li>A folder with {@code x.npy} and {@code y.npy}, or with {@code train_x.npy}, {@code train_y.npy},
 * {@code test_x.npy} and {@code test_y.npy}; {@code x_train.npy} and so on are accepted as well.
 * <li>An {@code .npz} file with arrays of such names.
 * <li>A {@code .csv} file: numbers with commas between them, the last column is the label, a class if all labels are
 * written without point and exponent; the first line is a header if it has no numbers.
 * <li>A folder with {@code train.csv} and {@code test.csv}, or with a single {@code .npz} or {@code .csv} file.
 * </ul>
 *
 * The test examples are used for validation, or every tenth example if there are none. x of a floating-point type,
 * uint8 or bool is converted to FLOAT32 without scaling, and x of other integer types to INT64. If x has the shape
 * [examples], the shape of one example is [1].
 */
public final class ArrayPairs {
    static final String WANTED = "x.npy with y.npy, train_x.npy with train_y.npy, *.npz, *.csv";
    private static final String NPY = ".npy";
    private static final String NPZ = ".npz";
    private static final String CSV = ".csv";
    private static final String TRAINING_TABLE = "train.csv";
    private static final String VALIDATION_TABLE = "test.csv";
    private static final List<Names> NAMES = List.of(new Names("x", "y", "test_x", "test_y"),
            new Names("train_x", "train_y", "test_x", "test_y"),
            new Names("x_train", "y_train", "x_test", "y_test"));

    /** The accepted names of arrays. */
    private record Names(String x, String y, String testX, String testY) {
        boolean isIn(Set<String> names) {
            return names.contains(x) || names.contains(y);
        }
    }

    /** The named arrays of a file or a folder. */
    private interface Arrays {
        String source(String name);

        Tensor read(String name) throws IOException;
    }

    private ArrayPairs() {
    }

    /**
     * Reads a file or folder.
     *
     * @param path
     *            a file or folder, as described above
     * @return the examples
     * @throws FileFormatException
     *             if a file is missing or invalid; for a {@code .csv} file, the message contains line and column
     * @throws java.nio.file.NoSuchFileException
     *             if the file or folder does not exist
     * @throws IOException
     *             if a file cannot be read
     */
    public static LabelledData read(Path path) throws IOException {
        DataFiles.requireExists(path);
        if (Files.isDirectory(path)) {
            return folder(path);
        }
        if (begins(path, 'P', 'K')) {
            return npz(path);
        }
        if (ends(path, CSV)) {
            return CsvTable.read(path).split();
        }
        throw new FileFormatException(path.toString(),
                "examples are read from a folder, an " + NPZ + " file or a " + CSV
                        + " file, but this is none of these");
    }

    /** Returns whether a folder contains files with accepted names. */
    static boolean isIn(Path folder) throws IOException {
        Set<String> names = npyOf(folder);
        return NAMES.stream().anyMatch(each -> each.isIn(names)) || !tablesOf(folder).isEmpty();
    }

    /** Returns whether a file contains both inputs and labels. */
    static boolean isPair(Path file) throws IOException {
        return ends(file, CSV) || ends(file, NPZ) || begins(file, 'P', 'K');
    }

    /** Returns whether a file begins like an {@code .npy} file. */
    static boolean isNpy(Path file) throws IOException {
        return begins(file, 0x93, 'N', 'U', 'M', 'P', 'Y');
    }

    private static LabelledData folder(Path folder) throws IOException {
        Set<String> names = npyOf(folder);
        for (Names each : NAMES) {
            if (each.isIn(names)) {
                return pairs(each, names, npyIn(folder));
            }
        }
        Path training = folder.resolve(TRAINING_TABLE);
        Path validation = folder.resolve(VALIDATION_TABLE);
        if (Files.isRegularFile(training) && Files.isRegularFile(validation)) {
            return CsvTable.read(training).with(CsvTable.read(validation));
        }
        List<Path> tables = tablesOf(folder);
        if (tables.size() != 1) {
            throw new FileFormatException(folder.toString(),
                    "the folder must have " + WANTED + ", of the last two a single one, but has "
                            + (tables.isEmpty()
                                    ? "none of them"
                                    : tables.stream().map(Path::getFileName).toList() + ": name one of these"));
        }
        return read(tables.getFirst());
    }

    private static LabelledData npz(Path file) throws IOException {
        Map<String, Tensor> tensors = Npz.read(file);
        for (Names each : NAMES) {
            if (each.isIn(tensors.keySet())) {
                return pairs(each, tensors.keySet(), npyIn(file, tensors));
            }
        }
        throw new FileFormatException(file.toString(),
                "the arrays must be called x and y, train_x and train_y, or x_train and y_train, but are "
                        + tensors.keySet());
    }

    private static LabelledData pairs(Names names, Set<String> there, Arrays arrays) throws IOException {
        LabelledRows training = pair(names.x, names.y, there, arrays);
        if (there.contains(names.testX) || there.contains(names.testY)) {
            return training.with(pair(names.testX, names.testY, there, arrays));
        }
        return training.split();
    }

    private static LabelledRows pair(String x, String y, Set<String> there, Arrays arrays) throws IOException {
        for (String name : List.of(x, y)) {
            if (!there.contains(name)) {
                throw new FileFormatException(arrays.source(name),
                        x + " and " + y + " belong together, but there is no " + name);
            }
        }
        return LabelledRows.of(Rows.inputs(arrays.source(x), arrays.read(x)),
                Rows.labels(arrays.source(y), arrays.read(y)));
    }

    private static Arrays npyIn(Path folder) {
        return new Arrays() {
            @Override
            public String source(String name) {
                return folder.resolve(name + NPY).toString();
            }

            @Override
            public Tensor read(String name) throws IOException {
                return Npy.read(folder.resolve(name + NPY));
            }
        };
    }

    private static Arrays npyIn(Path file, Map<String, Tensor> tensors) {
        return new Arrays() {
            @Override
            public String source(String name) {
                return file + " (" + name + NPY + ")";
            }

            @Override
            public Tensor read(String name) {
                return Objects.requireNonNull(tensors.get(name));
            }
        };
    }

    private static Set<String> npyOf(Path folder) throws IOException {
        Set<String> names = new HashSet<>();
        for (Path file : filesOf(folder)) {
            String name = file.getFileName().toString();
            if (name.endsWith(NPY)) {
                names.add(name.substring(0, name.length() - NPY.length()));
            }
        }
        return names;
    }

    private static List<Path> tablesOf(Path folder) throws IOException {
        return filesOf(folder).stream().filter(file -> ends(file, CSV) || ends(file, NPZ)).toList();
    }

    private static List<Path> filesOf(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static boolean ends(Path file, String suffix) {
        return file.getFileName().toString().toLowerCase(Locale.ROOT).endsWith(suffix);
    }

    private static boolean begins(Path file, int... wanted) throws IOException {
        try (InputStream in = Files.newInputStream(InputFiles.regular(file))) {
            byte[] begin = in.readNBytes(wanted.length);
            boolean same = begin.length == wanted.length;
            for (int i = 0; same && i < wanted.length; i++) {
                same = (begin[i] & 0xff) == wanted[i];
            }
            return same;
        }
    }
}
