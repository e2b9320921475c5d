package io.seriatim.spark;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The files of a model as bytes, which Spark can broadcast: executors need not share a file system with the driver.
 *
 * @param name
 *            what is loaded: a file's name, with or without its ending; empty if the model is the whole folder
 * @param files
 *            the bytes by name, sorted
 */
record ModelFiles(String name, TreeMap<String, byte[]> files) implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String SYMBOL = "-symbol";

    /**
     * Reads a model's files from any file system of Hadoop. A folder is a model with all its files. To a file belong
     * those beside it with the same name and another ending, such as {@code model.pdiparams} to {@code model.pdmodel},
     * and {@code model-0000.params} to {@code model-symbol.json}.
     *
     * @param more
     *            the names of further files beside it
     */
    static ModelFiles read(String path, String[] more, Configuration settings) throws IOException {
        Path model = new Path(path);
        FileSystem system = model.getFileSystem(settings);
        TreeMap<String, byte[]> files = new TreeMap<>();
        if (system.exists(model) && system.getFileStatus(model).isDirectory()) {
            for (FileStatus file : system.listStatus(model)) {
                if (file.isFile() && !isHidden(file.getPath().getName())) {
                    files.put(file.getPath().getName(), bytes(system, file));
                }
            }
            return new ModelFiles("", files);
        }
        Path folder = model.getParent() == null ? new Path(".") : model.getParent();
        List<String> others = List.of(more);
        List<String> there = new ArrayList<>();
        if (system.exists(folder)) {
            for (FileStatus file : system.listStatus(folder)) {
                String name = file.getPath().getName();
                if (file.isFile() && (belongs(name, model.getName()) || others.contains(name))) {
                    files.put(name, bytes(system, file));
                }
                there.add(name);
            }
        }
        if (files.isEmpty()) {
            throw new IOException("There is no model " + path + ": give its file or folder, by a path that the driver "
                    + "can read");
        }
        for (String other : others) {
            if (!files.containsKey(other)) {
                throw new IOException("There is no file '" + other + "' beside the model " + path + ", but " + there);
            }
        }
        return new ModelFiles(model.getName(), files);
    }

    private static boolean isHidden(String name) {
        return name.startsWith(".") || name.startsWith("_SUCCESS");
    }

    /** Whether a file has the name of a model, apart from their endings. */
    static boolean belongs(String file, String model) {
        String stem = stem(model);
        return file.equals(model)
                || (file.startsWith(stem) && file.length() > stem.length()
                        && !Character.isLetterOrDigit(file.charAt(stem.length())));
    }

    private static String stem(String model) {
        int ending = model.lastIndexOf('.');
        String stem = ending > 0 ? model.substring(0, ending) : model;
        return stem.endsWith(SYMBOL) ? stem.substring(0, stem.length() - SYMBOL.length()) : stem;
    }

    private static byte[] bytes(FileSystem system, FileStatus file) throws IOException {
        try (InputStream in = system.open(file.getPath())) {
            return in.readAllBytes();
        }
    }

    /** Writes the files into a new folder, and returns what to load. */
    String write(String folder, Configuration settings) throws IOException {
        Path target = new Path(folder);
        FileSystem system = target.getFileSystem(settings);
        for (String each : files.keySet()) {
            try (OutputStream out = system.create(new Path(target, each), false)) {
                out.write(files.get(each));
            }
        }
        return name.isEmpty() ? folder : new Path(target, name).toString();
    }

    /** Writes the files into an existing folder of this machine, and returns what to load. */
    java.nio.file.Path unpack(java.nio.file.Path folder) throws IOException {
        for (String each : files.keySet()) {
            Files.write(folder.resolve(each), files.get(each));
        }
        return name.isEmpty() ? folder : folder.resolve(name);
    }

    /** Loads the model. */
    InferenceModel load() throws IOException {
        java.nio.file.Path folder = Files.createTempDirectory("seriatim-model");
        try {
            return InferenceModels.load(unpack(folder));
        } finally {
            for (String each : files.keySet()) {
                Files.deleteIfExists(folder.resolve(each));
            }
            Files.delete(folder);
        }
    }

    /** Returns a hash by which equal models are found. */
    String digest() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(name.getBytes(StandardCharsets.UTF_8));
            files.forEach((each, bytes) -> {
                digest.update((each + "/" + bytes.length + "/").getBytes(StandardCharsets.UTF_8));
                digest.update(bytes);
            });
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
