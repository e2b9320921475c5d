package io.seriatim.executor.ir;

import io.seriatim.device.Place;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;

/**
 * Where the attributes of an operation ask that it runs.
 *
 * @param device
 *            the attribute {@code op_device}; empty if the operation runs where the program does
 * @param stream
 *            the attribute {@code execution_stream}, the name of a stream of the device; empty for the usual one
 */
public record PlaceRequest(String device, String stream) {
    private static final String STREAM = "execution_stream";
    private static final String GPU = "gpu";

    /** What an operation asks for. */
    public static PlaceRequest of(OpDesc op) {
        return new PlaceRequest(text(op, Roles.DEVICE), text(op, STREAM));
    }

    private static String text(OpDesc op, String attribute) {
        return op.attribute(attribute) instanceof Attribute.Text(String text) ? text : "";
    }

    /** Whether the operation names a device. */
    public boolean namesDevice() {
        return !device.isBlank();
    }

    /** Whether the operation names another device than the host. */
    public boolean namesAccelerator() {
        return namesDevice() && !device.equals(Place.CPU.toString());
    }

    /**
     * The place that is asked for.
     *
     * @param program
     *            where the program runs. The number of a GPU counts among the accelerators of the kind that the program
     *            runs on
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
