package io.seriatim.graph.format;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A format of models as files, for {@link InferenceModels#load} and {@link InferenceModels#save}. Modules add formats
 * as a service: {@code provides ModelFormat with …} in a module descriptor, and the name of the class in the file
 * {@code META-INF/services/io.seriatim.graph.format.ModelFormat} for the class path. A provider has a public
 * constructor without parameters, or a public static method {@code provider()}; it is used by many threads at once.
 *
 * <p>
 * Whatever the format, the model is a {@link io.seriatim.graph.program.Program} of operations with PaddlePaddle's
 * types, slots and attributes, whose variables have the names of the file where the file has names.
 */
public interface ModelFormat {
    /**
     * The name of the format in messages.
     *
     * @return such as {@code ONNX}
     */
    String name();

    /**
     * Whether a file or folder that is there has this format, which is decided quickly: by the end of its name and, if
     * other formats have that end too, by what the file begins with. If it does, but is damaged, {@link #load} says so.
     *
     * @param path
     *            a file or folder that is there
     * @return whether {@link #load} is to be asked
     * @throws IOException
     *             if the file cannot be read
     */
    boolean reads(Path path) throws IOException;

    /**
     * Reads a model.
     *
     * @param path
     *            for which {@link #reads} returned true
     * @return the model, which belongs to the caller. Its feeds and fetches are the inputs and outputs of the file, by
     *         the file's names and in the file's order; inputs with a value in the file are parameters
     * @throws io.seriatim.tensor.FileFormatException
     *             if a file is not what it should be; the message gives the place
     * @throws IllegalArgumentException
     *             if operations are not known or cannot be run; the message names all of them
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    InferenceModel load(Path path) throws IOException;

    /**
     * Reads a model with options. {@link InferenceModels#load(Path, LoadOptions)} applies the options to the program
     * that this method returns, so a format overrides it only if it can use them while it reads.
     *
     * @param path
     *            for which {@link #reads} returned true
     * @param options
     *            how the model is read
     * @return the model, as {@link #load(Path)} does
     * @throws io.seriatim.tensor.FileFormatException
     *             as for {@link #load(Path)}
     * @throws IllegalArgumentException
     *             as for {@link #load(Path)}, or if a shape of the options does not fit the model
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    default InferenceModel load(Path path, LoadOptions options) throws IOException {
        return load(path);
    }

    /**
     * Lists the operations of a model as the file has them, for people who want to know why {@link #load} refuses it.
     *
     * @param path
     *            for which {@link #reads} returned true
     * @return lines of text; empty unless the format overrides this
     * @throws IOException
     *             if a file is not what it should be, or cannot be read
     */
    default String listing(Path path) throws IOException {
        return "";
    }

    /**
     * Whether a file of this name would have this format, and this format can be written.
     *
     * @param path
     *            a file, which need not be there
     * @return whether {@link #save} is to be asked
     */
    boolean writes(Path path);

    /**
     * The files that {@link #save} may write or delete for a name, so that a command can check their places before a
     * long computation.
     *
     * @param path
     *            for which {@link #writes} returned true
     * @return the file itself first; only this one unless the format overrides this
     */
    default List<Path> files(Path path) {
        return List.of(path);
    }

    /**
     * Writes a model: all its files or none, see {@link io.seriatim.tensor.StagedFiles}; none is written if the model
     * cannot be expressed in this format.
     *
     * @param path
     *            for which {@link #writes} returned true; files beside it, such as those of parameters, have its name
     *            without the end
     * @param model
     *            the model, whose parameters are on the host; it is not changed
     * @throws IllegalArgumentException
     *             if the format has no counterpart of operations or types of the model; the message names all of them
     * @throws IOException
     *             if a file cannot be written
     */
    void save(Path path, InferenceModel model) throws IOException;

    /**
     * Writes a model with a version of the format's operations, as {@link #save(Path, InferenceModel)} otherwise.
     *
     * @param path
     *            for which {@link #writes} returned true
     * @param model
     *            the model, whose parameters are on the host; it is not changed
     * @param version
     *            the version, for ONNX that of its operators (opset)
     * @throws IllegalArgumentException
     *             if the format has no such version, as it is unless the format overrides this, or no counterpart of
     *             operations or types of the model
     * @throws IOException
     *             if a file cannot be written
     */
    default void save(Path path, InferenceModel model, int version) throws IOException {
        throw new IllegalArgumentException("The format " + name() + " of " + path
                + " has no versions to choose from; leave out version " + version);
    }

    /**
     * Checks that {@link #save(Path, InferenceModel)} can express a model, without writing anything.
     *
     * @param path
     *            for which {@link #writes} returned true
     * @param model
     *            the model; it is not changed
     * @throws IllegalArgumentException
     *             if the format has no counterpart of operations or types of the model; the message names all of them.
     *             A format that does not override this finds that out when it writes
     */
    default void requireExpressible(Path path, InferenceModel model) {
        // Nothing is known before the model is written.
    }
}
