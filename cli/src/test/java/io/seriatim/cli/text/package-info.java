@NullMarked
package io.seriatim.cli.text;

import org.jspecify.annotations.NullMarked;
