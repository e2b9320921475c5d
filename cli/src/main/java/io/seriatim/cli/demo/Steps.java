package io.seriatim.cli.demo;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.zip.DeflaterOutputStream;

/** The steps of both programs for one group of files. */
final class Steps {
    private static final int MAGIC_AND_VERSION = 8;
    private static final int UTF8 = 1;
    private static final int CLASS = 7;
    private static final int STRING = 8;
    private static final int METHOD_HANDLE = 15;
    private static final int METHOD_TYPE = 16;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int MODULE = 19;
    private static final int PACKAGE = 20;

    private Steps() {
    }

    static List<byte[]> read(Group group) throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (Path file : group.files()) {
            files.add(Files.readAllBytes(file));
        }
        return files;
    }

    static String hash(List<byte[]> files) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            files.forEach(digest::update);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    static byte[] compress(List<byte[]> files) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (DeflaterOutputStream deflated = new DeflaterOutputStream(packed)) {
            for (byte[] file : files) {
                deflated.write(file);
            }
        }
        return packed.toByteArray();
    }

    /** Counts which classes the files mention. */
    static Map<String, Integer> mentions(List<byte[]> files) throws IOException {
        Map<String, Integer> counts = new HashMap<>();
        for (byte[] file : files) {
            for (String name : classNames(file)) {
                counts.merge(name, 1, Integer::sum);
            }
        }
        return counts;
    }

    /** The class names in a class file's constant pool (The Java Virtual Machine Specification, 4.4). */
    private static List<String> classNames(byte[] file) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(file));
        in.skipNBytes(MAGIC_AND_VERSION);
        int size = in.readUnsignedShort();
        String[] texts = new String[size];
        List<Integer> classes = new ArrayList<>();
        for (int i = 1; i < size; i++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case UTF8 -> texts[i] = in.readUTF();
                case CLASS -> classes.add(in.readUnsignedShort());
                case STRING, METHOD_TYPE, MODULE, PACKAGE -> in.skipNBytes(2);
                case METHOD_HANDLE -> in.skipNBytes(3);
                case LONG, DOUBLE -> {
                    in.skipNBytes(8);
                    i++;
                }
                default -> in.skipNBytes(4);
            }
        }
        return classes.stream().map(at -> texts[at]).toList();
    }
}
