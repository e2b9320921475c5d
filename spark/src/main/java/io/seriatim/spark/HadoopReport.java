package io.seriatim.spark;

import io.seriatim.train.report.TrainingReport;
import java.io.IOException;
import java.nio.file.Files;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A report in a file system of Hadoop, which is replaced when a new one is whole.
 *
 * @param file
 *            where it is
 * @param settings
 *            of Hadoop
 */
record HadoopReport(String file, Configuration settings) {
    void write(TrainingReport report) throws IOException {
        java.nio.file.Path page = Files.createTempFile("seriatim-report", ".html");
        try {
            report.write(page);
            Path target = new Path(file);
            FileSystem system = target.getFileSystem(settings);
            Path partial = target.suffix("." + UUID.randomUUID() + ".part");
            try (var out = system.create(partial, false)) {
                Files.copy(page, out);
            }
            // A file system that renames onto an existing file does so in one step; others, such as HDFS, refuse.
            if (!renamed(system, partial, target)) {
                system.delete(target, false);
                if (!renamed(system, partial, target)) {
                    system.delete(partial, false);
                    throw new IOException("The report " + partial + " could not be renamed to " + target);
                }
            }
        } finally {
            Files.deleteIfExists(page);
        }
    }

    private static boolean renamed(FileSystem system, Path from, Path to) throws IOException {
        return (!system.exists(to) || system.getFileStatus(to).isFile()) && system.rename(from, to);
    }

    @Override
    public String toString() {
        return file;
    }
}
