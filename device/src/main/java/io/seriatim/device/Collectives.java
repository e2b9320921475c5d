package io.seriatim.device;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Exchanges between several places of one process, as operations on their streams. Each call names all parts at once,
 * in the order of their ranks, and returns at once: work that is launched on a part's stream afterwards finds the
 * result. Results are reduced in the order of the ranks, so all ranks get equal bits, and the same in every run.
 *
 * <p>
 * A reduction is cut into as many chunks as there are ranks: rank r fetches chunk r of all others, reduces it, and the
 * others fetch the result, so every rank does an equal share.
 */
public final class Collectives {
    /**
     * What one rank gives and gets.
     *
     * @param stream
     *            on which its operations run
     * @param input
     *            the bytes that it gives; may be those of the output
     * @param output
     *            the bytes that it gets
     */
    public record Part(Stream stream, Access input, Access output) {
        /**
         * One buffer, given and overwritten.
         *
         * @param stream
         *            on which its operations run
         * @param buffer
         *            the memory
         * @return the part
         */
        public static Part inPlace(Stream stream, Buffer buffer) {
            return new Part(stream, Access.read(buffer), Access.write(buffer));
        }

        private Buffer fetched(long bytes) {
            return stream.device().allocate(bytes, stream);
        }
    }

    private Collectives() {
    }

    /**
     * Every rank gets the reduction of all inputs.
     *
     * @param parts
     *            one a rank, all of one size
     * @param element
     *            the type of the elements
     * @param how
     *            how they are reduced
     */
    public static void allReduce(List<Part> parts, Element element, Reduction how) {
        long bytes = check("all-reduce", parts, element.bytes());
        for (Part part : parts) {
            require(part.output().bytes() == bytes, "all-reduce", "inputs and outputs must be of one size", parts);
        }
        int ranks = parts.size();
        long share = (bytes / element.bytes() + ranks - 1) / ranks * element.bytes();
        List<Event> given = record(parts);
        List<Buffer> reduced = new ArrayList<>();
        List<Event> ready = new ArrayList<>();
        for (int r = 0; r < ranks; r++) {
            Part part = parts.get(r);
            long from = Math.min(bytes, r * share);
            long length = Math.min(bytes, from + share) - from;
            Buffer chunk = part.fetched(length);
            reduceInto(parts, given, part, chunk, from, length, element, how, "all-reduce");
            reduced.add(chunk);
            ready.add(part.stream().record());
        }
        // No output may be written while another rank reads the input that lies there.
        for (Part part : parts) {
            ready.forEach(part.stream()::waitFor);
            for (int r = 0; r < ranks; r++) {
                Buffer chunk = reduced.get(r);
                if (chunk.bytes() > 0) {
                    part.stream().copy("all-reduce gathers", Access.read(chunk),
                            within(part.output(), r * share, chunk.bytes(), true));
                }
            }
        }
        reduced.forEach(Buffer::close);
    }

    /**
     * Every rank gets the reduction of its share of all inputs.
     *
     * @param parts
     *            one a rank; inputs of one size, outputs of that size by the number of ranks
     * @param element
     *            the type of the elements
     * @param how
     *            how they are reduced
     */
    public static void reduceScatter(List<Part> parts, Element element, Reduction how) {
        long bytes = check("reduce-scatter", parts, element.bytes());
        long share = bytes / parts.size();
        for (Part part : parts) {
            require(share * parts.size() == bytes && share % element.bytes() == 0 && part.output().bytes() == share,
                    "reduce-scatter",
                    "an input must be of as many equal shares of whole elements as there are ranks, and an output "
                            + "of one share",
                    parts);
        }
        List<Event> given = record(parts);
        List<Buffer> chunks = new ArrayList<>();
        List<Event> ready = new ArrayList<>();
        for (int r = 0; r < parts.size(); r++) {
            Buffer chunk = parts.get(r).fetched(share);
            reduceInto(parts, given, parts.get(r), chunk, r * share, share, element, how, "reduce-scatter");
            chunks.add(chunk);
            ready.add(parts.get(r).stream().record());
        }
        for (int r = 0; r < parts.size(); r++) {
            Part part = parts.get(r);
            ready.forEach(part.stream()::waitFor);
            part.stream().copy("reduce-scatter keeps", Access.read(chunks.get(r)),
                    within(part.output(), 0, share, true));
        }
        chunks.forEach(Buffer::close);
    }

    private static void reduceInto(List<Part> parts, List<Event> given, Part part, Buffer chunk, long from, long length,
            Element element,
            Reduction how, String name) {
        if (length == 0) {
            return;
        }
        given.forEach(part.stream()::waitFor);
        part.stream().copy(name + " begins", within(parts.getFirst().input(), from, length, false),
                Access.write(chunk));
        for (Part other : parts.subList(1, parts.size())) {
            Buffer fetched = part.fetched(length);
            part.stream().copy(name + " fetches", within(other.input(), from, length, false), Access.write(fetched));
            part.stream().launch(name + " reduces", List.of(Access.read(fetched), Access.write(chunk)), () -> {
                for (long at = 0; at < length; at += element.bytes()) {
                    element.reduce(how, chunk.segment(), at, fetched.segment(), at);
                }
            });
            fetched.close();
        }
    }

    /**
     * Every rank gets the input of one.
     *
     * @param parts
     *            one a rank, all outputs of the size of that input
     * @param root
     *            the rank that gives
     */
    public static void broadcast(List<Part> parts, int root) {
        check("broadcast", parts, 1);
        require(root >= 0 && root < parts.size(), "broadcast",
                "the root must be from 0 to " + (parts.size() - 1) + ", but is " + root,
                parts);
        Access input = parts.get(root).input();
        List<Event> given = record(parts);
        List<Event> taken = new ArrayList<>();
        for (int r = 0; r < parts.size(); r++) {
            Part part = parts.get(r);
            require(part.output().bytes() == input.bytes(), "broadcast",
                    "outputs must have the size of the root's input", parts);
            if (r != root || part.output().buffer() != input.buffer()) {
                part.stream().waitFor(given.get(root));
                part.stream().copy("broadcast", input, part.output());
                taken.add(part.stream().record());
            }
        }
        taken.forEach(parts.get(root).stream()::waitFor);
    }

    /**
     * Every rank gets all inputs, one after the other.
     *
     * @param parts
     *            one a rank; inputs of one size, outputs as many times as large as there are ranks
     */
    public static void allGather(List<Part> parts) {
        long bytes = check("all-gather", parts, 1);
        for (Part part : parts) {
            require(part.output().bytes() == bytes * parts.size(), "all-gather",
                    "an output must have the size of all inputs", parts);
        }
        List<Event> given = record(parts);
        List<Event> taken = new ArrayList<>();
        for (Part part : parts) {
            given.forEach(part.stream()::waitFor);
            for (int r = 0; r < parts.size(); r++) {
                part.stream().copy("all-gather", parts.get(r).input(), within(part.output(), r * bytes, bytes, true));
            }
            taken.add(part.stream().record());
        }
        for (Part part : parts) {
            taken.forEach(part.stream()::waitFor);
        }
    }

    /**
     * One place sends to another.
     *
     * @param from
     *            the sender's stream: what it launched before is sent
     * @param source
     *            the bytes to read
     * @param to
     *            the receiver's stream: what it launches afterwards finds them
     * @param target
     *            the bytes to write, as many
     */
    public static void send(Stream from, Access source, Stream to, Access target) {
        to.waitFor(from.record());
        to.copy("send and receive", source, target);
        from.waitFor(to.record());
    }

    private static List<Event> record(List<Part> parts) {
        return parts.stream().map(part -> part.stream().record()).toList();
    }

    private static Access within(Access whole, long from, long bytes, boolean write) {
        return new Access(whole.buffer(), whole.offset() + from, bytes, write);
    }

    /** The size of the inputs, which must be one. */
    private static long check(String name, List<Part> parts, int elementBytes) {
        require(!parts.isEmpty(), name, "there must be at least one rank", parts);
        Set<Stream> streams = new HashSet<>();
        long bytes = parts.getFirst().input().bytes();
        for (Part part : parts) {
            require(streams.add(part.stream()), name, "every rank must have a stream of its own", parts);
            require(!part.input().write() && part.output().write(), name, "inputs must be reads and outputs writes",
                    parts);
            boolean gives = name.equals("broadcast") || part.input().bytes() == bytes;
            require(gives && part.input().bytes() % elementBytes == 0, name,
                    "inputs must be of one size, in whole elements of " + elementBytes + " bytes", parts);
        }
        return bytes;
    }

    private static void require(boolean holds, String name, String rule, List<Part> parts) {
        if (!holds) {
            List<String> sizes = parts.stream()
                    .map(part -> part.stream().device().place() + "/" + part.stream().name() + " "
                            + part.input().bytes() + " to " + part.output().bytes())
                    .toList();
            throw new IllegalArgumentException(
                    name + ": " + rule + "; the ranks and the bytes that they give and get are " + sizes);
        }
    }
}
