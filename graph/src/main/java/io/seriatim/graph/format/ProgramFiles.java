package io.seriatim.graph.format;

import io.seriatim.graph.dialect.TypesOfPaddle;
import io.seriatim.graph.program.HeapMemory;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.util.XxHash64;
import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Programs as files: Paddle's {@code .pdmodel} and {@code __model__}, which are protobuf messages ProgramDesc. A model
 * for training is two such files, its main and its startup program; one for inference is written by
 * {@link InferenceModels}. Tools in other languages can read all of them with the definitions of the messages, the
 * resource {@code io/seriatim/graph/framework.proto} of this module.
 */
public final class ProgramFiles {
    /** The seed of {@link #hash}. */
    private static final long SEED = 1;
    private static final long LARGEST = Integer.MAX_VALUE - 64L;

    private ProgramFiles() {
    }

    /**
     * Reads a program.
     *
     * @param file
     *            a {@code .pdmodel} or {@code __model__}
     * @return the program
     * @throws FileFormatException
     *             if it is not a program; the message gives the byte offset
     * @throws IllegalStateException
     *             if memory is exhausted; the cause is the {@link OutOfMemoryError}
     * @throws IOException
     *             if it cannot be read
     */
    public static Program read(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new FileFormatException(file.toString(), 0, "a folder, and no program: name the file in it");
        }
        Path folder = file.getParent();
        String folderIs = folder == null || Files.exists(file) ? null : OtherFiles.describe(folder);
        if (folderIs != null) {
            throw new FileFormatException(String.valueOf(folder), ModelFormats.othersAre(folderIs));
        }
        long size = Files.size(InputFiles.regular(file));
        if (size > LARGEST) {
            throw new FileFormatException(file.toString(), 0,
                    "a program is smaller than 2 GiB, but this has " + size + " bytes");
        }
        try {
            return parse(file.toString(), Files.readAllBytes(file));
        } catch (FileFormatException e) {
            String other = OtherFiles.describe(file);
            if (other == null) {
                throw e;
            }
            throw new FileFormatException(file.toString(), ModelFormats.othersAre(other), e);
        } catch (OutOfMemoryError e) {
            throw new IllegalStateException(file + " cannot be read: " + HeapMemory.advice(e), e);
        }
    }

    /**
     * Reads a program out of bytes.
     *
     * @param source
     *            where they are from, for messages
     * @param bytes
     *            a serialised ProgramDesc
     * @return the program
     * @throws FileFormatException
     *             if it is not a program; the message gives the byte offset
     */
    public static Program parse(String source, byte[] bytes) throws FileFormatException {
        try {
            return new ProgramReader(source, bytes).read();
        } catch (FileFormatException e) {
            throw e;
        } catch (IOException e) {
            throw new UncheckedIOException(e); // There is nothing to read but memory.
        }
    }

    /**
     * Writes a program: to a temporary name first, then moved into place.
     *
     * @param file
     *            replaced if it is there
     * @param program
     *            what is written
     * @throws IllegalArgumentException
     *             if a variable is of a type that Paddle's files lack: uint16, uint32 or uint64
     * @throws IOException
     *             if it cannot be written
     */
    public static void write(Path file, Program program) throws IOException {
        TypesOfPaddle.require(program);
        AtomicFile.write(file, out -> out.write(toBytes(program)));
    }

    /**
     * A program as bytes; equal programs give equal bytes.
     *
     * @param program
     *            what is written
     * @return a serialised ProgramDesc
     */
    public static byte[] toBytes(Program program) {
        return ProgramWriter.bytes(program, true);
    }

    /**
     * Paddle's hash of a program: XXH64 with seed 1 of its bytes without the versions of operation types.
     *
     * @param program
     *            what is hashed
     * @return the hash, to be read as unsigned
     */
    public static long hash(Program program) {
        return XxHash64.of(ProgramWriter.bytes(program, false), SEED);
    }
}
