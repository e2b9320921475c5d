package io.seriatim.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads the memory limit that Linux control groups set for a container: {@code memory.max} of version 2,
 * {@code memory.limit_in_bytes} of version 1. The limit of a group applies to its subgroups too, so the effective limit
 * is the minimum over the group and its ancestors.
 */
final class ContainerMemory {
    /** Without a limit, version 1 reports a number near 2^63. */
    private static final long NONE = 1L << 60;

    private ContainerMemory() {
    }

    /**
     * Returns the default limit of buffers in bytes: the container's memory minus the maximum Java heap, but at least
     * half of the container's memory; {@link Long#MAX_VALUE} outside a container.
     */
    static long forBuffers(Path root, long heap) {
        long limit = limit(root);
        return limit == Long.MAX_VALUE ? limit : Math.max(limit / 2, limit - heap);
    }

    /** Returns the limit in bytes, or {@link Long#MAX_VALUE} if there is none or it cannot be read. */
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
     * Returns the minimum of the limits of a group and its ancestors. Inside a container the group's folder is often
     * the mount point itself, although the path has its name outside the container.
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
