package io.seriatim.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What the control groups of Linux let the process use, as containers set it: {@code memory.max} of version 2,
 * {@code memory.limit_in_bytes} of version 1. A group's limit holds for the groups in it, so the least on the way up
 * counts.
 */
final class ContainerMemory {
    /** Version 1 writes a number of pages near 2^63 where there is no limit. */
    private static final long NONE = 1L << 60;

    private ContainerMemory() {
    }

    /**
     * What buffers may take by default: the container's memory without the Java heap, which grows to its own limit, but
     * at least half of it. No limit without a container.
     */
    static long forBuffers(Path root, long heap) {
        long limit = limit(root);
        return limit == Long.MAX_VALUE ? limit : Math.max(limit / 2, limit - heap);
    }

    /** In bytes; {@link Long#MAX_VALUE} if there is none, or it cannot be read. */
    static long limit(Path root) {
        long limit = Long.MAX_VALUE;
        try {
            Path own = root.resolve("proc/self/cgroup");
            for (String line : Files.isReadable(own) ? Files.readAllLines(own) : List.<String>of()) {
                // hierarchy:controllers:path
                String[] parts = line.split(":", 3);
                if (parts.length == 3 && parts[1].isEmpty()) {
                    limit = Math.min(limit, least(root.resolve("sys/fs/cgroup"), parts[2], "memory.max"));
                } else if (parts.length == 3 && List.of(parts[1].split(",", -1)).contains("memory")) {
                    limit = Math.min(limit,
                            least(root.resolve("sys/fs/cgroup/memory"), parts[2], "memory.limit_in_bytes"));
                }
            }
        } catch (IOException | RuntimeException e) {
            System.getLogger(ContainerMemory.class.getName()).log(System.Logger.Level.DEBUG,
                    "The container's memory limit cannot be read",
                    e);
        }
        return limit;
    }

    /**
     * Of a group and those around it. In a container the group's own folder is often the root, whatever its path
     * outside is called.
     */
    private static long least(Path mount, String group, String file) throws IOException {
        long least = Long.MAX_VALUE;
        Path own = mount.resolve(group.substring(1)).normalize();
        for (Path folder = own.startsWith(mount) ? own : mount; folder != null
                && folder.startsWith(mount); folder = folder.getParent()) {
            Path limit = folder.resolve(file);
            if (Files.isReadable(limit)) {
                String text = Files.readString(limit).strip();
                long bytes = text.equals("max") ? NONE : Long.parseLong(text);
                least = bytes < NONE ? Math.min(least, bytes) : least;
            }
        }
        return least;
    }
}
