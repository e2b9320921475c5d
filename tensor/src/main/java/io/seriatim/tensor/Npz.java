package io.seriatim.tensor;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * NumPy's format of several named arrays: a zip of {@code .npy} files. Stored when written, stored or deflated when
 * read. Equal tensors give equal bytes.
 */
public final class Npz {
    private static final int MOST_ENTRIES = 1 << 20;
    private static final String SUFFIX = ".npy";
    /** The earliest date of the zip format, so that files of equal content are equal. */
    private static final LocalDateTime TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

    private Npz() {
    }

    /**
     * Reads a file.
     *
     * @param file
     *            an {@code .npz} file
     * @return the tensors by name, without {@code .npy}, in the file's order
     * @throws FileFormatException
     *             if it is not such a file
     * @throws IOException
     *             if it cannot be read
     */
    public static Map<String, Tensor> read(Path file) throws IOException {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        try (ZipFile zip = new ZipFile(InputFiles.regular(file).toFile())) {
            if (zip.size() > MOST_ENTRIES) {
                throw new FileFormatException(file.toString(), 0,
                        "there may be at most " + MOST_ENTRIES + " arrays, but there are " + zip.size());
            }
            Enumeration<? extends ZipEntry> entries = zip.entries();
            while (entries.hasMoreElements()) {
                ZipEntry entry = entries.nextElement();
                Tensor tensor = read(file, zip, entry);
                String name = entry.getName().substring(0, entry.getName().length() - SUFFIX.length());
                if (tensors.put(name, tensor) != null) {
                    throw new FileFormatException(file.toString(), 0, "the array '" + name + "' is there twice");
                }
            }
            return tensors;
        } catch (ZipException e) {
            FileFormatException wrong = new FileFormatException(file.toString(), 0,
                    "an .npz file is a zip file, but this one is not whole: " + e.getMessage());
            wrong.initCause(e);
            tensors.values().forEach(Tensor::close);
            throw wrong;
        } catch (IOException e) {
            tensors.values().forEach(Tensor::close);
            throw e;
        }
    }

    private static Tensor read(Path file, ZipFile zip, ZipEntry entry) throws IOException {
        String source = file + " (" + entry.getName() + ")";
        if (!entry.getName().endsWith(SUFFIX)) {
            throw new FileFormatException(source, 0, "the entries of an .npz file end in .npy");
        }
        // The stated size is not trusted: memory is allocated as bytes arrive.
        try (InputStream in = new BufferedInputStream(zip.getInputStream(entry))) {
            return Npy.read(source, in, entry.getMethod() == ZipEntry.STORED ? entry.getSize() : -1);
        }
    }

    /**
     * Writes a file: to a temporary name first, which is then moved into place.
     *
     * @param file
     *            is made or replaced
     * @param tensors
     *            of the host, by name
     * @throws IOException
     *             if it cannot be written; then the previous file is unchanged
     */
    public static void write(Path file, Map<String, Tensor> tensors) throws IOException {
        AtomicFile.write(file, out -> {
            try (ZipOutputStream zip = new ZipOutputStream(out)) {
                zip.setMethod(ZipOutputStream.STORED);
                for (Map.Entry<String, Tensor> named : tensors.entrySet()) {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    Npy.write(bytes, named.getValue());
                    zip.putNextEntry(entry(named.getKey() + SUFFIX, bytes.toByteArray()));
                    bytes.writeTo(zip);
                    zip.closeEntry();
                }
            }
        });
    }

    private static ZipEntry entry(String name, byte[] content) {
        CRC32 crc = new CRC32();
        crc.update(content);
        ZipEntry entry = new ZipEntry(name);
        entry.setTimeLocal(TIME);
        entry.setSize(content.length);
        entry.setCompressedSize(content.length);
        entry.setCrc(crc.getValue());
        return entry;
    }
}
