package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Reads text in UTF-8. */
public final class TextFile {
    private static final String SUFFIX = ".txt";
    private static final long MOST_BYTES = 1L << 29;
    private static final int LEAST = 20;
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private TextFile() {
    }

    /**
     * Reads a file, or the concatenation of all {@code *.txt} of a folder, sorted by name; a missing line feed at the
     * end of a file other than the last is added. The last tenth of the text is used for validation. A byte order mark
     * at the start of a file is ignored.
     *
     * @param path
     *            a file with any name, or a folder; at most 512 MiB
     * @return the text, at least 20 characters
     * @throws FileFormatException
     *             if the text is not UTF-8, too short or too long, or has more than 65,536 distinct characters, or if
     *             the folder contains no such file
     * @throws java.nio.file.NoSuchFileException
     *             if the file or folder does not exist
     * @throws IOException
     *             if a file cannot be read
     */
    public static TextData read(Path path) throws IOException {
        DataFiles.requireExists(path);
        List<Path> files = Files.isDirectory(path) ? filesOf(path) : List.of(path);
        if (files.isEmpty()) {
            throw new FileFormatException(path.toString(),
                    "a folder of text must have *" + SUFFIX + " files, but has none");
        }
        StringBuilder text = new StringBuilder();
        for (Path file : files) {
            if (!text.isEmpty() && text.charAt(text.length() - 1) != '\n') {
                text.append('\n');
            }
            append(file, text, MOST_BYTES - text.length());
        }
        return split(path, text);
    }

    /** Returns the text files of a folder, sorted by name. */
    static List<Path> filesOf(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> entry.getFileName().toString().toLowerCase(Locale.ROOT).endsWith(SUFFIX))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        }
    }

    private static void append(Path file, StringBuilder text, long most) throws IOException {
        long size = Files.size(InputFiles.regular(file));
        if (size > most) {
            throw new FileFormatException(file.toString(),
                    "a text must be of at most " + (MOST_BYTES >> 20) + " MiB in all, but this file is of " + size
                            + " bytes: take a part of it");
        }
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        CharBuffer chars = CharBuffer.allocate(bytes.capacity());
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        CoderResult result = decoder.decode(bytes, chars, true);
        if (result.isError()) {
            throw new FileFormatException(file.toString(), bytes.position(),
                    "a text must be in UTF-8, but this byte is not");
        }
        chars.flip();
        text.append(chars, !chars.isEmpty() && chars.charAt(0) == BYTE_ORDER_MARK ? 1 : 0, chars.length());
    }

    private static TextData split(Path path, StringBuilder text) throws FileFormatException {
        int count = Character.codePointCount(text, 0, text.length());
        if (count < LEAST) {
            throw new FileFormatException(path.toString(),
                    "a text must have at least " + LEAST + " characters, but has " + count);
        }
        Vocabulary vocabulary;
        try {
            vocabulary = Vocabulary.of(text);
        } catch (IllegalArgumentException e) {
            throw new FileFormatException(path.toString(), String.valueOf(e.getMessage()), e);
        }
        Tokens tokens = vocabulary.encode(text);
        int learnt = count - count / 10;
        return new TextData(vocabulary, tokens.slice(0, learnt), tokens.slice(learnt, count));
    }
}
