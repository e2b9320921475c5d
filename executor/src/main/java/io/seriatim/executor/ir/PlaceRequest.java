package io.seriatim.executor.ir;

import io.seriatim.device.Place;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;

/**
 * The device and stream that the attributes of an operation request.
 *
 * @param device
 *            the attribute {@code op_device}; empty if the operation runs at the program's place
 * @param stream
 *            the attribute {@code execution_stream}, the name of a stream of the device; empty for the default stream
 */
public record PlaceRequest(String device, String stream) {
    private static final String STREAM = "execution_stream";
    private static final String GPU = "gpu";

    /** Returns the request of an operation. */
    public static PlaceRequest of(OpDesc op) {
        return new PlaceRequest(text(op, Roles.DEVICE), text(op, STREAM));
    }

    private static String text(OpDesc op, String attribute) {
        return op.attribute(attribute) instanceof Attribute.Text(String text) ? text : "";
    }

    /** Returns whether the operation names a device. */
    public boolean namesDevice() {
        return !device.isBlank();
    }

    /** Returns whether the operation names a device other than the host. */
    public boolean namesAccelerator() {
        return namesDevice() && !device.equals(Place.CPU.toString());
    }

    /**
     * Returns whether a program has an operation that may run on a device: it or its executor names one.
     *
     * @param program
     *            the program, with all blocks
     * @param place
     *            the place of operations that name none
     */
    public static boolean usesDevice(Program program, Place place) {
        return !place.isHost() || program.blocks().stream().flatMap(block -> block.ops().stream()).map(PlaceRequest::of)
                .anyMatch(request -> request.namesAccelerator() && !request.device.startsWith(GPU));
    }

    /**
     * Returns the requested place.
     *
     * @param program
     *            the place at which the program runs. The index of a GPU refers to accelerators of the kind of this
     *            place
     */
    public Place resolve(Place program) {
        if (!namesDevice()) {
            return program;
        }
        if (!device.startsWith(GPU)) {
            return Place.parse(device);
        }
        if (program.isHost()) {
            return Place.CPU;
        }
        int colon = device.indexOf(':');
        String number = colon < 0 ? "" : device.substring(colon + 1);
        boolean isNumber = !number.isEmpty() && number.chars().allMatch(Character::isDigit);
        return new Place(program.kind(), isNumber ? Integer.parseInt(number) : 0);
    }
}
