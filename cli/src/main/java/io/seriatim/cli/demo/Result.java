package io.seriatim.cli.demo;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The result of a program: state that its steps share and change, in an order that matters. */
final class Result {
    private final ByteArrayOutputStream archive = new ByteArrayOutputStream();
    private final List<String> hashes = new ArrayList<>();
    private final Map<String, Integer> index = new TreeMap<>();

    void append(byte[] packed) {
        archive.writeBytes(packed);
    }

    void list(String hash) {
        hashes.add(hash);
    }

    void merge(Map<String, Integer> mentions) {
        mentions.forEach((name, count) -> index.merge(name, count, Integer::sum));
    }

    int archiveBytes() {
        return archive.size();
    }

    int groups() {
        return hashes.size();
    }

    int names() {
        return index.size();
    }

    /** Whether another result is equal, byte for byte and in the same order. */
    boolean isSameAs(Result other) {
        return hashes.equals(other.hashes) && index.equals(other.index)
                && Arrays.equals(archive.toByteArray(), other.archive.toByteArray());
    }
}
