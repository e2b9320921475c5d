package io.seriatim.spark;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.util.SerializableConfiguration;

/**
 * The checkpoints of a training in a file system of Hadoop, as copies of those that rank 0 writes to its disk. Each is
 * a folder that is written under another name and then renamed, so that it is there as a whole or not at all.
 *
 * @param folder
 *            where they are
 * @param settings
 *            of Hadoop
 */
record CheckpointStore(String folder, SerializableConfiguration settings) implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String PARTIAL = ".part";

    static CheckpointStore of(String folder, Configuration settings) {
        return new CheckpointStore(folder, new SerializableConfiguration(settings));
    }

    private FileSystem system() throws IOException {
        return new Path(folder).getFileSystem(settings.value());
    }

    /** Returns the steps of all complete checkpoints, in ascending order. */
    List<Long> steps() throws IOException {
        FileSystem system = system();
        List<Long> steps = new ArrayList<>();
        if (system.exists(new Path(folder))) {
            for (FileStatus each : system.listStatus(new Path(folder))) {
                if (each.isDirectory() && each.getPath().getName().matches("\\d{1,18}")) {
                    steps.add(Long.valueOf(each.getPath().getName()));
                }
            }
        }
        return steps.stream().sorted().toList();
    }

    /** Copies all checkpoints to a folder of this machine, which need not exist. */
    void download(java.nio.file.Path target) throws IOException {
        FileSystem system = system();
        for (long step : steps()) {
            java.nio.file.Path copy = Files.createDirectories(target.resolve(Long.toString(step)));
            for (FileStatus file : system.listStatus(new Path(folder, Long.toString(step)))) {
                if (file.isFile()) {
                    try (var in = system.open(file.getPath())) {
                        Files.copy(in, copy.resolve(file.getPath().getName()));
                    }
                }
            }
        }
    }

    /** Copies a new checkpoint, and then deletes those that are not among those beside it any more. */
    void upload(java.nio.file.Path checkpoint) throws IOException {
        FileSystem system = system();
        String name = String.valueOf(checkpoint.getFileName());
        Path target = new Path(folder, name);
        // An earlier attempt that was thought dead may have been here: equal steps have equal bits.
        if (!system.exists(target)) {
            Path partial = new Path(folder, "." + name + "." + UUID.randomUUID() + PARTIAL);
            system.mkdirs(partial);
            try (Stream<java.nio.file.Path> files = Files.list(checkpoint)) {
                for (java.nio.file.Path file : files.toList()) {
                    try (var out = system.create(new Path(partial, String.valueOf(file.getFileName())), false)) {
                        Files.copy(file, out);
                    }
                }
            }
            if (!system.rename(partial, target)) {
                throw new IOException("The checkpoint " + partial + " could not be renamed to " + target);
            }
        }
        for (FileStatus each : system.listStatus(new Path(folder))) {
            String other = each.getPath().getName();
            boolean isOld = other.matches("\\d{1,18}") && !Files.exists(checkpoint.resolveSibling(other));
            if (other.endsWith(PARTIAL)) {
                system.delete(each.getPath(), true);
            } else if (isOld) {
                // Renamed first: one that is deleted in part would look like a checkpoint.
                Path removed = new Path(folder, "." + other + ".removed" + PARTIAL);
                system.rename(each.getPath(), removed);
                system.delete(removed, true);
            }
        }
    }
}
