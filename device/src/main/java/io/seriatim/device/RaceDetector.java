package io.seriatim.device;

/** Finds accesses that are not ordered. */
final class RaceDetector {
}
