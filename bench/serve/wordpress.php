<?php
// Installs WordPress with three posts; run in its directory: php wordpress.php.
$_SERVER += ['HTTP_HOST' => 'localhost', 'REQUEST_URI' => '/', 'SERVER_PROTOCOL' => 'HTTP/1.1'];
define('WP_INSTALLING', true);
require getcwd() . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
add_filter('pre_wp_mail', '__return_true');
wp_install('Swifts', 'anna', 'anna@example.org', false, '', 'secret');
for ($number = 1; $number <= 3; $number++) {
    wp_insert_post(['post_title' => "Post $number", 'post_content' => str_repeat("<p>About swifts.</p>\n", 20), 'post_status' => 'publish']);
}
