package io.seriatim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContainerMemoryTest {
    private static final long GIB = 1L << 30;

    @TempDir
    Path root;

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text + "\n");
    }

    @Test
    void withoutGroupsThereIsNoLimit() {
        assertEquals(Long.MAX_VALUE, ContainerMemory.limit(root));
        assertEquals(Long.MAX_VALUE, ContainerMemory.forBuffers(root, GIB));
    }

    @Test
    void theLeastLimitOnTheWayUpCountsInVersion2() throws IOException {
        write("proc/self/cgroup", "0::/pod/container");
        write("sys/fs/cgroup/pod/container/memory.max", "max");
        assertEquals(Long.MAX_VALUE, ContainerMemory.limit(root));
        write("sys/fs/cgroup/pod/memory.max", String.valueOf(3 * GIB));
        assertEquals(3 * GIB, ContainerMemory.limit(root));
        write("sys/fs/cgroup/pod/container/memory.max", String.valueOf(2 * GIB));
        assertEquals(2 * GIB, ContainerMemory.limit(root));
    }

    @Test
    void insideAContainerTheRootIsItsGroup() throws IOException {
        write("proc/self/cgroup", "0::/../outside/container");
        write("sys/fs/cgroup/memory.max", String.valueOf(GIB));
        assertEquals(GIB, ContainerMemory.limit(root));
        write("proc/self/cgroup", "0::/not/mounted/here");
        assertEquals(GIB, ContainerMemory.limit(root));
    }

    @Test
    void version1HasAHierarchyOfItsOwnForMemory() throws IOException {
        write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/a\n0::/");
        write("sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", "9223372036854771712");
        assertEquals(Long.MAX_VALUE, ContainerMemory.limit(root));
        write("sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", String.valueOf(5 * GIB));
        assertEquals(5 * GIB, ContainerMemory.limit(root));
    }

    @Test
    void buffersGetWhatTheHeapLeaves() throws IOException {
        write("proc/self/cgroup", "0::/");
        write("sys/fs/cgroup/memory.max", String.valueOf(4 * GIB));
        assertEquals(3 * GIB, ContainerMemory.forBuffers(root, GIB));
        assertEquals(2 * GIB, ContainerMemory.forBuffers(root, 4 * GIB), "at least half");
    }

    @Test
    void aLimitThatCannotBeReadIsNone() throws IOException {
        write("proc/self/cgroup", "0::/");
        write("sys/fs/cgroup/memory.max", "much");
        assertEquals(Long.MAX_VALUE, ContainerMemory.limit(root));
    }
}
