@NullMarked
package io.seriatim.cli.convert;

import org.jspecify.annotations.NullMarked;
