package io.seriatim.graph.interpret;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.ConfinedFolder;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which files the operations of programs may read and write: those of one folder, or none. The origin of a program does
 * not matter, since a program does not tell whether it was read from a file, copied or built.
 */
public final class AllowedFiles {
    /** Programs read and write no files. */
    public static final AllowedFiles NONE = new AllowedFiles(null);
    private static final int NAMED = 3;

    private final @Nullable ConfinedFolder folder;

    private AllowedFiles(@Nullable ConfinedFolder folder) {
        this.folder = folder;
    }

    /**
     * The files of a folder and of folders in it. Names lead nowhere else, see {@link ConfinedFolder}.
     *
     * @param folder
     *            is there
     * @return what is allowed
     * @throws IllegalArgumentException
     *             if it is no folder
     */
    public static AllowedFiles in(Path folder) {
        try {
            return new AllowedFiles(ConfinedFolder.of(folder));
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "The folder " + folder
                            + ", whose files programs may read and write, must be there, but is not a folder: make "
                            + "it first",
                    e);
        }
    }

    /**
     * Refuses a program that names other files, in any of its blocks. Nothing is run.
     *
     * @param program
     *            operation types that are not known are left to others
     * @throws FilesNotAllowedException
     *             naming the operations, the files and the reason
     */
    public void check(Program program) {
        List<String> refused = new ArrayList<>();
        int more = 0;
        for (Block block : program.blocks()) {
            for (int i = 0; i < block.ops().size(); i++) {
                String problem = problem(block.ops().get(i));
                if (problem != null && refused.size() < NAMED) {
                    refused.add("block " + block.index() + ", operation " + i + " (" + block.ops().get(i).type() + "): "
                            + problem);
                } else if (problem != null) {
                    more++;
                }
            }
        }
        if (!refused.isEmpty()) {
            throw new FilesNotAllowedException("The program "
                    + (folder == null ? "reads or writes files" : "names other files than those of " + folder.path())
                    + ", which its caller must allow: " + String.join("; ", refused)
                    + (more == 0 ? "" : "; and " + more + " more")
                    + ". Allow a folder with --allow-files DIR or Executor.builder().files(DIR), and only for a "
                    + "program that you trust with it");
        }
    }

    private @Nullable String problem(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        String attribute = schema == null ? null : schema.file();
        if (attribute == null) {
            return null;
        }
        if (!(op.attribute(attribute) instanceof Attribute.Text(String name))) {
            return "its attribute '" + attribute + "' names no file";
        }
        if (folder == null) {
            return "the file '" + name + "'";
        }
        try {
            folder.check(name);
            return null;
        } catch (FileSystemException e) {
            return "the file '" + name + "': " + (e.getReason() == null ? e.toString() : e.getReason());
        } catch (IOException e) {
            return "the file '" + name + "': " + e.getMessage();
        }
    }

    /** The folder, which the operation was checked to need. */
    ConfinedFolder folder(OpDesc op) {
        ConfinedFolder allowed = folder;
        if (allowed == null) {
            throw new FilesNotAllowedException(
                    "Operation '" + op.type() + "' reads or writes a file, which its caller must allow");
        }
        return allowed;
    }
}
